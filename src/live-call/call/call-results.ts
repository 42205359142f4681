import type { TerminalStatus } from '../../domains/calls/lifecycle/call-states.ts'
import type { ResultsAtEnd } from '../../domains/results/open-results.ts'

/**
 * What becomes of summary and transcript at the end of a call (decision D7). Whatever happened to it, what was
 * said is kept (D14); the reasons stand only where nothing was said.
 */
export const resultsAtEnd = (call: {
  readonly status: TerminalStatus
  readonly wasAnswered: boolean
  readonly hasTurns: boolean
}): ResultsAtEnd => {
  if (call.hasTurns) return { status: 'processing' }
  if (call.status === 'cancelled') return { status: 'unavailable', reason: 'call_cancelled' }
  if (call.status === 'failed') return { status: 'unavailable', reason: 'call_failed' }
  return { status: 'unavailable', reason: call.wasAnswered ? 'no_speech' : 'call_not_answered' }
}
