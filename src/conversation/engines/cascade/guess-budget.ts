/**
 * How often the model may be asked before the callee has surely finished. Each turn adds to the budget, each reply that
 * is thrown away costs a whole request: in the long run at most 30 % more requests.
 */
export interface GuessBudget {
  readonly mayGuess: boolean
  /** A reply is requested early. */
  spend(): void
  /** The reply was what the turn needed. */
  giveBack(): void
  turnEnded(): void
}

const shareOfTurns = 0.3
const mostCredit = 3
/** Sums of tenths are not exact. */
const oneRequest = 1 - 1e-9

export const createGuessBudget = (): GuessBudget => {
  let credit = 1
  return {
    get mayGuess() {
      return credit >= oneRequest
    },
    spend() {
      credit -= 1
    },
    giveBack() {
      credit += 1
    },
    turnEnded() {
      credit = Math.min(mostCredit, credit + shareOfTurns)
    },
  }
}
