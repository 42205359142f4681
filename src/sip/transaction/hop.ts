import type { Destination } from '../message/destination.ts'
import type { Header, SipRequest } from '../message/message.ts'
import { newBranch } from '../message/responses.ts'

/** A prepared next hop, and our name towards it. */
export interface Hop {
  readonly destination: Destination
  readonly localHost: string
  /** Our address for Via: where we listen, or our end of the connection. */
  readonly localHostPort: string
  /** Our address for Contact: the same, or how the hop sees us through a NAT. */
  readonly contactHostPort: string
}

/** Our Contact towards a hop. */
export const contactHeader = ({ destination, contactHostPort }: Hop): Header => {
  const transport = destination.protocol === 'udp' ? '' : `;transport=${destination.protocol}`
  return ['contact', `<sip:outdial@${contactHostPort}${transport}>`]
}

/**
 * The request with its own Via on top, ready for its transaction (RFC 3261 8.1.1.7, RFC 3581 3). `alias` asks the hop
 * to send its own requests over this connection (RFC 5923 5).
 */
export const withVia = (request: SipRequest, hop: Hop, branch = newBranch()): SipRequest => {
  const protocol = hop.destination.protocol.toUpperCase()
  const alias = protocol === 'UDP' ? '' : ';alias'
  const via: Header = [
    'via',
    `SIP/2.0/${protocol} ${hop.localHostPort};branch=${branch};rport${alias}`,
  ]
  return { ...request, headers: [via, ...request.headers] }
}
