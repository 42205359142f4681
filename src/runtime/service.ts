/**
 * A part that runs: `start` resolves when it is ready, `stop` when everything is released; both are safe to call
 * twice.
 */
export interface Service {
  start(): Promise<void>
  stop(): Promise<void>
}
