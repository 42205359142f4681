export interface ReplyWatchActions {
  /** Ask for the reply that did not come by itself. */
  ask(): void
  /** Ask again for the reply that failed. */
  retry(): void
  giveUp(): void
}

/** A server begins its reply within a moment of the callee's last word; how long the model thinks comes after that. */
const forgottenAfterMs = 4_000
/** On a telephone each failure is silence: after more than this in a row the server is given up. */
const maxFailures = 2
const retryDelayMs = 500

/** Makes sure that a server replies to the callee: one that forgets is asked, one that fails is asked again, then given up. */
export class ReplyWatch {
  readonly #actions: ReplyWatchActions
  #failures = 0
  #forgotten: NodeJS.Timeout | undefined
  #retrying: NodeJS.Timeout | undefined

  constructor(actions: ReplyWatchActions) {
    this.#actions = actions
  }

  /** The callee has finished, and the server should reply by itself. */
  expect(): void {
    clearTimeout(this.#forgotten)
    this.#forgotten = setTimeout(() => this.#actions.ask(), forgottenAfterMs)
  }

  /** The server replies, or there is nothing to reply to. */
  settled(): void {
    clearTimeout(this.#forgotten)
  }

  completed(): void {
    this.#failures = 0
  }

  failed(): void {
    this.#failures += 1
    if (this.#failures > maxFailures) return this.#actions.giveUp()
    clearTimeout(this.#retrying)
    this.#retrying = setTimeout(() => this.#actions.retry(), retryDelayMs * this.#failures)
  }

  stop(): void {
    clearTimeout(this.#forgotten)
    clearTimeout(this.#retrying)
  }
}
