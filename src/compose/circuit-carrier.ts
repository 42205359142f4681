import type { TrunkCircuit, TrunkFault } from '../dispatch/pacing/trunk-circuit.ts'
import type { Carrier, DialFailure } from '../telephony/carrier.ts'

/**
 * The carrier of a trunk whose faults open its circuit. A fault that sends the call back to the queue has opened it before
 * the call can be claimed again; silence is confirmed beside the call, which has ended.
 */
export const withCircuit = (carrier: Carrier, circuit: TrunkCircuit): Carrier => ({
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

/** Claimed before the circuit opened: no INVITE leaves any more. */
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
