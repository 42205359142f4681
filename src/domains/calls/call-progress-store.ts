import type { AnswerStatus, CallStatus } from '../../contract/states.ts'
import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import { backoffMs } from '../../runtime/backoff.ts'
import type { EndedCall } from './call-ended.ts'
import { decisionFragment, heldBy, wokenFirst, wokenFragment } from './call-fragments.ts'
import { statesBefore, type CallOrigin, type TerminalStatus } from './call-states.ts'

/** Which call, and the proof that it is still ours: a later holder's token makes every write touch no row. */
export interface CallFence {
  readonly organizationId: string
  readonly callId: string
  readonly leaseToken: string
}

const markConnectedStatement = sql(
  'call-progress-store.markConnected',
  `update calls
      set status       = 'in_progress',
          connected_at = coalesce(connected_at, greatest(dialing_at, $4::timestamptz)),
          updated_at   = now()
    where organization_id = $1
      and id = $2
      and ${heldBy('$3')}
      and status = any($5)`,
)

/** `dialing` → `in_progress`. Safe to repeat. False: the call is no longer ours. */
export const markConnected = async (
  db: Queryable,
  fence: CallFence,
  connectedAt: Date,
): Promise<boolean> =>
  (await db.run(markConnectedStatement, [
    ...fenceValues(fence),
    connectedAt,
    [...statesBefore('in_progress'), 'in_progress'],
  ])) > 0

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
  'call-progress-store.finishCall',
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

const requeueStatement = sql(
  'call-progress-store.requeue',
  `with ${wokenFragment},
   requeued as (
     update calls
        set status      = 'queued',
            dialing_at  = null,
            lease_token = null,
            node_id     = null,
            claimed_at  = null,
            deadline_at = null,
            wait_reason = $6,
            -- A cancellation that was asked for meanwhile is carried out at the gate, so it must not wait.
            not_before  = case when cancel_requested_at is null
                               then now() + $4 * interval '1 millisecond' else now() end,
            updated_at  = now(),
            ${decisionFragment({
              decision: "'requeued'",
              reason: 'left($5, 500)',
              until: "now() + $4 * interval '1 millisecond'",
            })}
      where organization_id = $1
        and id = $2
        and ${heldBy('$3')}
        and status = any($7)
        and ${wokenFirst}
     returning id
   )
   select id from requeued`,
)

/** Waits between dials into a congested trunk: 1 to 2 s after the first, at most a minute. */
const congestionBackoff = { baseMs: 2_000, maxMs: 60_000 }
/** A carrier's Retry-After is honoured up to this. */
const maxRetryAfterMs = 3_600_000

export interface Congestion {
  /** How often the call was dialled, this time included. */
  readonly attempt: number
  /** One sentence, such as `SIP 503 Service Unavailable`. */
  readonly reason: string
  readonly retryAfterMs?: number | undefined
}

/** `dialing` → `queued`, since the carrier was congested before any 18x (D3, D14). False: no longer ours. */
export const requeueCongested = async (
  db: Queryable,
  fence: CallFence,
  { attempt, reason, retryAfterMs }: Congestion,
): Promise<boolean> => {
  const delayMs = Math.min(retryAfterMs ?? backoffMs(attempt, congestionBackoff), maxRetryAfterMs)
  return requeue(db, fence, delayMs, reason, 'carrier_congestion')
}

/**
 * `dialing` → `queued`, since the trunk cannot be used and nothing can have reached a phone. The trunk's circuit holds it
 * back; the wait of its own only keeps a fault that opens none from turning in a loop. False: no longer ours.
 */
export const requeueTrunkDown = async (
  db: Queryable,
  fence: CallFence,
  { attempt, reason }: Congestion,
): Promise<boolean> =>
  requeue(db, fence, backoffMs(attempt, congestionBackoff), reason, 'trunk_down')

/** `dialing` → `queued`, since the caller knows for certain that no INVITE left this process. */
export const requeueUnsent = async (
  db: Queryable,
  fence: CallFence,
  reason: string,
): Promise<boolean> => requeue(db, fence, unsentDelayMs, reason, 'not_sent')

/** Long enough for another node, or this one recovered, to take it. */
const unsentDelayMs = 1_000

const requeue = async (
  db: Queryable,
  fence: CallFence,
  delayMs: number,
  reason: string,
  waitReason: 'carrier_congestion' | 'not_sent' | 'trunk_down',
): Promise<boolean> =>
  (await db.row(requeueStatement, [
    ...fenceValues(fence),
    delayMs,
    reason,
    waitReason,
    statesBefore('queued'),
  ])) !== undefined

const summaryStatement = sql(
  'call-progress-store.recordSummary',
  `update calls
      set summary        = coalesce($3, summary),
          outcome        = coalesce(outcome, $4),
          outcome_reason = coalesce(outcome_reason, left($5, 500)),
          updated_at     = now()
    where organization_id = $1
      and id = $2
      and ended_at is not null`,
)

/** What reading the conversation told, after the call. What was certain at its end stays. */
export const recordSummary = async (
  db: Queryable,
  organizationId: string,
  callId: string,
  found: { summary?: string; outcome?: string; outcomeReason?: string },
): Promise<boolean> =>
  (await db.run(summaryStatement, [
    organizationId,
    callId,
    found.summary ?? null,
    found.outcome ?? null,
    found.outcomeReason ?? null,
  ])) > 0

const fenceValues = (fence: CallFence): readonly [string, string, string] => [
  fence.organizationId,
  fence.callId,
  fence.leaseToken,
]
