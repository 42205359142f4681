import type { Logger } from '../../runtime/logger.ts'
import type { DialogTable } from './dialog-table.ts'
import type { Time } from '../../runtime/time.ts'
import type { SessionTimerSettings } from './session-timer.ts'
import type { Signalling } from '../transaction/signalling.ts'
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
