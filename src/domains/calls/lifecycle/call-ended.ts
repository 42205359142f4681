import type { AnswerStatus } from '../../../contract/states.ts'
import type { Transaction } from '../../../database/database.ts'
import type { CallOrigin, TerminalStatus } from './call-states.ts'

/** A call that has just reached its terminal state, in the transaction that did it. */
export interface EndedCall {
  readonly organizationId: string
  readonly callId: string
  readonly contactId: string
  readonly agentId: string
  readonly phoneNumber: string
  readonly origin: CallOrigin
  readonly status: TerminalStatus
  readonly answerStatus: AnswerStatus
  readonly batchId: string | null
  readonly automationRunId: string | null
  /** Null if nobody answered. */
  readonly connectedAt: Date | null
  readonly endedAt: Date
}

/**
 * What must commit together with a terminal state that no live call writes (a cancellation in the queue, a refusal at
 * the gate, the rescue of a lost call): results, settlement, follow-up jobs.
 */
export type OnCallEnded = (tx: Transaction, call: EndedCall) => Promise<void>
