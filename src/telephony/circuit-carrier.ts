import type { Carrier, DialFailure } from './carrier.ts'

/** What one call found out about its trunk; `silence`: the INVITE left and no response came. */
export interface TrunkFault {
  readonly cause: 'unreachable' | 'credentials' | 'silence'
  readonly reason: string
}

/** The circuit of one trunk, from its carrier's view. */
export interface Circuit {
  /** Undefined: INVITEs may be sent, as far as this node knows. */
  downReason(): string | undefined
  /** Resolves once calls for the trunk are held back. Never rejects. */
  report(fault: TrunkFault): Promise<void>
}

/**
 * The carrier of a trunk whose faults open its circuit. A fault that sends the call back to the queue opens the
 * circuit before the call can be claimed again; silence is confirmed separately, because its call has ended.
 */
export const withCircuit = (carrier: Carrier, circuit: Circuit): Carrier => ({
  dial: async (request, signal) => {
    const reason = circuit.downReason()
    if (reason !== undefined) return { kind: 'failed', failure: heldBack(reason) }
    const outcome = await carrier.dial(request, signal)
    const fault = outcome.kind === 'failed' ? faultOf(outcome.failure) : undefined
    if (fault?.cause === 'silence') void circuit.report(fault)
    else if (fault) await circuit.report(fault)
    return outcome
  },
})

/** Claimed before the circuit opened: no INVITE is sent any more. */
const heldBack = (reason: string): DialFailure => ({
  cause: 'no_route',
  reason,
  rang: false,
  invited: false,
})

const faultOf = ({ cause, reason, rang, invited }: DialFailure): TrunkFault | undefined => {
  if (rang) return undefined
  if (cause === 'authentication') return { cause: 'credentials', reason }
  if (cause === 'no_route') return { cause: invited ? 'silence' : 'unreachable', reason }
  return undefined
}
