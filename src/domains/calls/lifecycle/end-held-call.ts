import type { AnswerStatus, CallStatus } from '../../../contract/states.ts'
import { sql, type Transaction } from '../../../database/database.ts'
import { fenceValues, type CallFence } from './call-fence.ts'
import { decisionFragment, heldBy, wokenFirst, wokenFragment } from './call-fragments.ts'
import { statesBefore, type CallOrigin, type TerminalStatus } from './call-states.ts'
import type { EndedCall } from './call-ended.ts'

export interface CallResult {
  readonly status: TerminalStatus
  /** Left out: `answered` if it was connected, else `unknown`. */
  readonly answerStatus?: AnswerStatus | undefined
  readonly outcome?: string | undefined
  /** One sentence; cut to 500 characters. */
  readonly outcomeReason?: string | undefined
  readonly durationSeconds?: number | undefined
  /** When it was answered, in case `markConnected` could not be stored. */
  readonly connectedAt?: Date | undefined
}

const finishStatement = sql(
  'end-held-call.finish',
  `with ${wokenFragment},
   ended as (
     update calls
        set status           = $4,
            answer_status    = coalesce($5, answer_status,
                                    case when connected_at is null then 'unknown' else 'answered' end),
            outcome          = $6,
            outcome_reason   = left($7, 500),
            duration_seconds = $8,
            -- greatest() ignores nulls: a call that nobody answered must not look connected when it was dialled.
            connected_at     = coalesce(connected_at,
                                 case when $9::timestamptz is not null then greatest(dialing_at, $9::timestamptz) end),
            ended_at         = greatest(now(), connected_at, dialing_at, $9::timestamptz),
            cancelled_at     = case when $4 = 'cancelled' then now() end,
            lease_token      = null,
            updated_at       = now(),
            ${decisionFragment({ decision: '$4', reason: 'left($7, 500)' })}
      where organization_id = $1
        and id = $2
        and ${heldBy('$3')}
        and status = any($10)
        and ${wokenFirst}
     returning contact_id, agent_id, phone_number, origin, status, answer_status, batch_id, automation_run_id,
               connected_at, ended_at
   )
   select * from ended`,
)

/**
 * The terminal state; the channel is free with this commit. Undefined: somebody else ended the call first, and that
 * stands. What must commit with it goes into the same transaction.
 */
export const finishCall = async (
  tx: Transaction,
  fence: CallFence,
  result: CallResult,
): Promise<EndedCall | undefined> => {
  const row = await tx.row<EndedRow>(finishStatement, [
    ...fenceValues(fence),
    result.status,
    result.answerStatus ?? null,
    result.outcome ?? null,
    result.outcomeReason ?? null,
    result.durationSeconds ?? null,
    result.connectedAt ?? null,
    statesBefore(result.status),
  ])
  return row && endedCall(fence, row)
}

/** The columns of a row that has just ended. */
export interface EndedRow {
  readonly contact_id: string
  readonly agent_id: string
  readonly phone_number: string
  readonly origin: CallOrigin
  readonly status: CallStatus
  readonly answer_status: AnswerStatus
  readonly batch_id: string | null
  readonly automation_run_id: string | null
  readonly connected_at: Date | null
  readonly ended_at: Date
}

export const endedCall = (
  { organizationId, callId }: Pick<CallFence, 'organizationId' | 'callId'>,
  row: EndedRow,
): EndedCall => ({
  organizationId,
  callId,
  contactId: row.contact_id,
  agentId: row.agent_id,
  phoneNumber: row.phone_number,
  origin: row.origin,
  status: row.status as TerminalStatus,
  answerStatus: row.answer_status,
  batchId: row.batch_id,
  automationRunId: row.automation_run_id,
  connectedAt: row.connected_at,
  endedAt: row.ended_at,
})
