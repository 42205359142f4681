import type { TerminalStatus } from '../domains/calls/call-states.ts'

/** What becomes of summary and transcript at the end of a call (decision D7). */
export type ResultsAtEnd =
  | { readonly status: 'processing' }
  | {
      readonly status: 'unavailable'
      readonly reason: 'call_cancelled' | 'call_failed' | 'call_not_answered' | 'no_speech'
    }

/** Whatever happened to a call, what was said on it is kept (D14); the reasons stand only where nothing was said. */
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
