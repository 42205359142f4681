import type { ArrivedInvite, CallBack } from '../../telephony/incoming/call-back.ts'
import type { TrunkAgent } from '../../telephony/trunk-line.ts'
import type { Trunk } from '../../telephony/trunk-uri.ts'

/** The trunk by which a person calls us. */
export interface CallBackLine {
  readonly name: string
  readonly mediaBindAddress: string
  /** Put into SDP instead of it. */
  readonly publicAddress?: string
}

export type TakeCallBack = (call: CallBack, line: CallBackLine) => void

/** A gateway of a trunk, as the sender of an INVITE. */
export interface Sender {
  readonly trunk: Trunk
  receive(incoming: ArrivedInvite): CallBack
}

export interface ReceivingTrunk extends CallBackLine {
  readonly agent: TrunkAgent
  readonly senders: readonly Sender[]
}

/**
 * Hands each INVITE over as a call of the trunk that it came from. The user agent has dropped those of strangers before,
 * so that a sender without a trunk is one of OUTDIAL_SIP_ALLOW, which stands in for the first trunk, or of a trunk that
 * was removed.
 */
export const receiveCallsBack =
  (trunks: () => readonly ReceivingTrunk[], take: TakeCallBack | undefined) =>
  (incoming: ArrivedInvite, agent: TrunkAgent): void => {
    const own = trunks().filter((trunk) => trunk.agent === agent)
    const found = findSender(own, incoming)
    if (found === undefined || take === undefined) incoming.reject(403, 'Forbidden')
    else take(found.sender.receive(incoming), found.line)
  }

/** By address and port, because several trunks may share an address; else by the address alone. */
const findSender = (
  trunks: readonly ReceivingTrunk[],
  { source }: ArrivedInvite,
): { readonly line: ReceivingTrunk; readonly sender: Sender } | undefined => {
  const all = trunks.flatMap((line) => line.senders.map((sender) => ({ line, sender })))
  return (
    all.find(({ line, sender }) => line.agent.sources.belongsTo(sender.trunk, source)) ??
    all.find(({ line, sender }) => line.agent.sources.hasAddress(sender.trunk, source)) ??
    all[0]
  )
}
