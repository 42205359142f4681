interface ReplyWatchActions {
  /** Request the reply that did not come by itself. */
  ask(): void
  /** Request the failed reply again. */
  retry(): void
  giveUp(): void
}

/** A server begins its reply within a moment of the callee's last word; the model's own delay comes after that. */
const forgottenAfterMs = 4_000
/** Each failure is silence on the phone: after more than this many in a row the server is given up. */
const maxFailures = 2
const retryDelayMs = 500

/**
 * Ensures that a server replies to the callee: a missing or failed reply is requested again, then the server is
 * given up.
 */
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

  /** The server replies, or nothing needs a reply. */
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
