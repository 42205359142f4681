/** Sees to it that a server answers the callee: one that forgets is asked, one that fails is asked again, and given up. */
export interface AnswerWatch {
  /** The callee has finished, and the server is to answer by itself. */
  expect(): void
  /** It answers, or there is nothing to answer after all. */
  settled(): void
  completed(): void
  failed(): void
  stop(): void
}

export interface AnswerWatchActions {
  /** Ask for the answer that did not come by itself. */
  ask(): void
  /** Ask again for the one that failed. */
  retry(): void
  giveUp(): void
}

/** A server begins its answer within a moment of the callee's last word; how long the model thinks comes after that. */
const forgottenAfterMs = 4_000
/** Failures in a row that are put up with: on a telephone each of them is silence. */
const maxFailures = 2
const retryDelayMs = 500

export const createAnswerWatch = (actions: AnswerWatchActions): AnswerWatch => {
  let failures = 0
  let forgotten: NodeJS.Timeout | undefined
  let retrying: NodeJS.Timeout | undefined

  return {
    expect() {
      clearTimeout(forgotten)
      forgotten = setTimeout(() => actions.ask(), forgottenAfterMs)
    },
    settled() {
      clearTimeout(forgotten)
    },
    completed() {
      failures = 0
    },
    failed() {
      failures += 1
      if (failures > maxFailures) return actions.giveUp()
      clearTimeout(retrying)
      retrying = setTimeout(() => actions.retry(), retryDelayMs * failures)
    },
    stop() {
      clearTimeout(forgotten)
      clearTimeout(retrying)
    },
  }
}
