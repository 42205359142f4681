import type { TerminalStatus } from '../../domains/calls/lifecycle/call-states.ts'
import type { ResultsAtEnd } from '../../domains/results/open-results.ts'
import type { UnavailableReason } from '../../domains/results/result-states.ts'

interface EndOfCall {
  readonly status: TerminalStatus
  readonly wasAnswered: boolean
}

/**
 * The state of summary and transcript at the end of a call (decision D7). Spoken words are kept after any end
 * (D14); the reasons apply only without words.
 */
export const resultsAtEnd = (call: EndOfCall & { readonly hasTurns: boolean }): ResultsAtEnd =>
  call.hasTurns
    ? { status: 'processing' }
    : { status: 'unavailable', reason: unavailableReason(call) }

/** Why a call without words has no results. */
export const unavailableReason = ({ status, wasAnswered }: EndOfCall): UnavailableReason => {
  if (status === 'cancelled') return 'call_cancelled'
  if (status === 'failed') return 'call_failed'
  return wasAnswered ? 'no_speech' : 'call_not_answered'
}
