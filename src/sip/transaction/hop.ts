import type { Destination } from '../message/destination.ts'
import type { Header, SipRequest } from '../message/message.ts'
import { newBranch } from '../message/responses.ts'

/** A prepared next hop, and our name towards it. */
export interface Hop {
  readonly destination: Destination
  readonly localHost: string
  /** Our address from the hop's view, with port: for Via and Contact. */
  readonly localHostPort: string
}

/** Our Contact towards a hop. */
export const contactHeader = ({ destination, localHostPort }: Hop): Header => {
  const transport = destination.protocol === 'udp' ? '' : `;transport=${destination.protocol}`
  return ['contact', `<sip:outdial@${localHostPort}${transport}>`]
}

/** The request with its own Via on top, ready for its transaction (RFC 3261 8.1.1.7, RFC 3581 3). */
export const withVia = (request: SipRequest, hop: Hop, branch = newBranch()): SipRequest => {
  const protocol = hop.destination.protocol.toUpperCase()
  const via: Header = ['via', `SIP/2.0/${protocol} ${hop.localHostPort};branch=${branch};rport`]
  return { ...request, headers: [via, ...request.headers] }
}
