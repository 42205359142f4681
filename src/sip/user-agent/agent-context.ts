import type { Logger } from '../../runtime/logger.ts'
import type { DialogTable } from '../dialog/dialog-table.ts'
import type { Header, SipRequest } from '../message/message.ts'
import { newBranch } from '../message/responses.ts'
import type { Time } from '../../runtime/time.ts'
import type { SessionTimerSettings } from '../dialog/session-timer.ts'
import type { Hop, Signalling } from './signalling.ts'
import type { TransactionTiming } from '../transaction/transaction-timing.ts'

/** What the parts of one user agent share. */
export interface AgentContext {
  readonly signalling: Signalling
  readonly time: Time
  readonly timing: TransactionTiming
  readonly sessionTimer: SessionTimerSettings
  readonly userAgentName: string
  readonly logger: Logger
  readonly dialogs: DialogTable
}

/** The methods we accept inside and outside of dialogs (RFC 3261 20.5). */
export const allowedMethods = 'INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, PRACK, INFO, NOTIFY'

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
