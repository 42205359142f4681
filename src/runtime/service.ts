/** Something that runs: `start` resolves when it is ready, `stop` when everything is let go; both are safe to call twice. */
export interface Service {
  start(): Promise<void>
  stop(): Promise<void>
}
