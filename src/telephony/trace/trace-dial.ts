import { topVia } from '../../sip/message/headers.ts'
import { serializeMessage } from '../../sip/message/message.ts'
import { hostPort } from '../../sip/message/uri.ts'
import type { MessageTrace, TracedMessage } from '../../sip/transaction/message-traces.ts'
import type { DialTrace } from '../carrier.ts'
import { maskMessage } from './mask-message.ts'

/** Hands every SIP message of a dial to its trace, masked. */
export const traceDial = (trace: DialTrace): MessageTrace => {
  let local = ''
  return {
    until: trace.until,
    add: (traced) => {
      if (local === '') local = ownAddress(traced)
      const { direction, message, peer } = traced
      trace.add({
        direction,
        protocol: peer.protocol,
        local,
        remote: hostPort(peer.address, peer.port),
        text: serializeMessage(maskMessage(message)).toString('utf8'),
      })
    },
  }
}

/** As our first request names it. */
const ownAddress = ({ message }: TracedMessage): string => {
  const via = topVia(message)
  return via === undefined ? '' : hostPort(via.host, via.port ?? 5060)
}
