import { sql, type Queryable } from '../../../database/database.ts'
import { backoffMs } from '../../../runtime/backoff.ts'
import { fenceValues, type CallFence } from './call-fence.ts'
import { decisionFragment, heldBy, wokenFirst, wokenFragment } from './call-fragments.ts'
import { statesBefore } from './call-states.ts'

const requeueStatement = sql(
  'requeue-call.requeue',
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
            congested_since = case $6 when 'carrier_congestion' then coalesce(congested_since, now())
                                      when 'not_sent' then congested_since end,
            congestions     = case $6 when 'carrier_congestion' then congestions + 1
                                      when 'not_sent' then congestions else 0 end,
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

interface Congestion {
  /** How often the call was dialled, including this time. */
  readonly attempt: number
  /** One sentence, such as `SIP 503 Service Unavailable`. */
  readonly reason: string
  readonly retryAfterMs?: number | undefined
}

/**
 * `dialing` → `queued`, because the carrier was congested before any 18x (D3, D14). False: this node no longer
 * holds the call.
 */
export const requeueCongested = async (
  db: Queryable,
  fence: CallFence,
  { attempt, reason, retryAfterMs }: Congestion,
): Promise<boolean> => {
  const delayMs = Math.min(retryAfterMs ?? backoffMs(attempt, congestionBackoff), maxRetryAfterMs)
  return requeue(db, fence, delayMs, reason, 'carrier_congestion')
}

/**
 * `dialing` → `queued`, because the trunk is unusable and no phone can have rung. The trunk's circuit holds it
 * back; its own delay only prevents a fast loop on a fault that opens no circuit. False: this node no longer holds
 * the call.
 */
export const requeueTrunkDown = async (
  db: Queryable,
  fence: CallFence,
  { attempt, reason }: Congestion,
): Promise<boolean> =>
  requeue(db, fence, backoffMs(attempt, congestionBackoff), reason, 'trunk_down')

/** `dialing` → `queued`, because the caller knows for certain that no INVITE left this process. */
export const requeueUnsent = async (
  db: Queryable,
  fence: CallFence,
  reason: string,
): Promise<boolean> => requeue(db, fence, unsentDelayMs, reason, 'not_sent')

/** Long enough for another node, or this one after recovery, to take it. */
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
