import type { Carrier, DialFailure, DialOutcome, DialProgress } from './carrier.ts'

/** What one call found out about its gateway; `silence`: the INVITE left and no response came. */
export interface TrunkFault {
  readonly cause: 'unreachable' | 'credentials' | 'congested' | 'silence'
  readonly reason: string
  /** Of a congested one: the time it asked for. */
  readonly retryAfterMs?: number | undefined
  /** How long ago its call was dialled. */
  readonly ageMs?: number
}

/** The circuit of one gateway, from its carrier's view. */
export interface Circuit {
  /** Undefined: INVITEs may be sent, as far as this node knows. */
  downReason(): string | undefined
  /** Resolves once calls for the gateway are held back. Never rejects. */
  report(fault: TrunkFault): Promise<void>
  /** A call was taken, or a phone rings: it works. Never rejects. */
  prove(): Promise<void>
}

/**
 * The carrier of a gateway whose faults open its circuit. A fault that sends the call back to the queue opens the
 * circuit before the call can be claimed again; silence is confirmed separately, because its call has ended.
 */
export const withCircuit = (carrier: Carrier, circuit: Circuit): Carrier => ({
  dial: async (request, signal) => {
    const reason = circuit.downReason()
    if (reason !== undefined) return { kind: 'failed', failure: heldBack(reason) }
    const dialledMs = performance.now()
    let isProven = false
    const onProgress = (progress: DialProgress): void => {
      request.onProgress?.(progress)
      if (progress.kind === 'trying' || isProven) return
      isProven = true
      void circuit.prove()
    }
    const outcome = await carrier.dial({ ...request, onProgress }, signal)
    const fault = outcome.kind === 'failed' ? faultOf(outcome.failure) : undefined
    const ageMs = performance.now() - dialledMs
    if (fault?.cause === 'silence') void circuit.report({ ...fault, ageMs })
    else if (fault) await circuit.report({ ...fault, ageMs })
    else if (!isProven && isProof(outcome)) void circuit.prove()
    return outcome
  },
})

/** Claimed before the circuit opened: no INVITE is sent any more. */
export const heldBack = (reason: string): DialFailure => ({
  cause: 'no_route',
  reason,
  rang: false,
  invited: false,
})

/** Any response that is no fault: the gateway took the INVITE and had something to say about the number. */
const isProof = (outcome: DialOutcome): boolean =>
  outcome.kind === 'answered' ||
  outcome.failure.rang ||
  (outcome.failure.sipStatus !== undefined && outcome.failure.cause !== 'authentication')

const faultOf = ({
  cause,
  reason,
  rang,
  invited,
  retryAfterMs,
}: DialFailure): TrunkFault | undefined => {
  if (rang) return undefined
  if (cause === 'authentication') return { cause: 'credentials', reason }
  if (cause === 'congestion') return { cause: 'congested', reason, retryAfterMs }
  if (cause === 'no_route') return { cause: invited ? 'silence' : 'unreachable', reason }
  return undefined
}
