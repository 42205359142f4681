import type { AnswerStatus } from '../../../contract/states.ts'
import { sql } from '../../../database/database.ts'
import { fenceValues, type CallFence } from './call-fence.ts'
import { decisionFragment, heldBy, wokenFirst, wokenFragment } from './call-fragments.ts'
import { statesBefore, type TerminalStatus } from './call-states.ts'
import type { Ending } from './end-call.ts'
import { endedColumns } from './ended-call.ts'

export interface CallResult {
  readonly status: TerminalStatus
  /** By default `answered` if it was connected, else `unknown`. */
  readonly answerStatus?: AnswerStatus | undefined
  readonly outcome?: string | undefined
  /** One sentence; cut to 500 characters. */
  readonly outcomeReason?: string | undefined
  readonly durationSeconds?: number | undefined
  /** When it was answered, in case `markConnected` could not be stored. */
  readonly connectedAt?: Date | undefined
}

const endStatement = sql(
  'end-held-call.end',
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
     returning ${endedColumns}
   )
   select * from ended`,
)

/**
 * The terminal state of a call whose lease is held: by the live call, by the gate, or by the rescue. The commit
 * frees the channel. If another end came first, nothing changes.
 */
export const endHeld = (fence: CallFence, result: CallResult): Ending => {
  const [organizationId, ...key] = fenceValues(fence)
  return {
    statement: endStatement,
    organizationId,
    values: [
      ...key,
      result.status,
      result.answerStatus ?? null,
      result.outcome ?? null,
      result.outcomeReason ?? null,
      result.durationSeconds ?? null,
      result.connectedAt ?? null,
      statesBefore(result.status),
    ],
  }
}
