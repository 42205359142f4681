import { sql, type Queryable } from '../../../database/database.ts'
import { decisionFragment, heldBy } from './call-fragments.ts'
import { fenceValues, type CallFence } from './call-fence.ts'
import { statesBefore, statusIn } from './call-states.ts'

/** Decision D3: a phone rings for at most a minute, and a call is over a minute after its deadline. */
const maxRingMs = 60_000
const watchdogGraceMs = 60_000
/** The longest call of any agent (D3). */
export const maxCallDurationMs = 3_600_000

// The fence of the whole queue. Committed before the INVITE leaves, so that a call whose node dies is known to have
// possibly rung. It fails for a holder whose lease has expired by the database's clock, even one that has not
// noticed: rescue waits for the same instant. Cancelled, paused and closed calls do not pass either, nor those to a
// person who was erased since the gate's check: their number is gone.
const markStatement = sql(
  'mark-dialing.markDialing',
  `update calls c
      set status      = 'dialing',
          -- The wall of one live call per number: fails with a unique violation (migrations/0152-one-call-per-number.sql).
          holds_number = true,
          dialing_at  = now(),
          attempt     = attempt + 1,
          deadline_at = now() + $4 * interval '1 millisecond',
          updated_at  = now(),
          ${decisionFragment({ decision: "'dial'", reason: '$5' })}
    where organization_id = $1
      and id = $2
      and ${heldBy('$3')}
      and ${statusIn(statesBefore('dialing'))}
      and cancel_requested_at is null
      and phone_number <> ''
      and exists (select from nodes n
                   where n.id = c.node_id
                     and n.rescued_at is null
                     and n.lease_until > clock_timestamp())
      and exists (select from lanes l
                   where l.organization_id = c.organization_id
                     and l.id = c.lane_id
                     and not l.paused
                     and l.opens_at <= clock_timestamp()
                     and l.closes_at > clock_timestamp())
   returning attempt`,
)

/**
 * `queued` → `dialing` by compare-and-set. Returns the number of this attempt; undefined: the race was lost, do not
 * dial.
 */
export const markDialing = async (
  db: Queryable,
  fence: CallFence,
  reason: string,
  maxDurationMs: number,
): Promise<number | undefined> => {
  const lifeMs = maxRingMs + Math.min(maxDurationMs, maxCallDurationMs) + watchdogGraceMs
  const row = await db.row<{ attempt: number }>(markStatement, [
    ...fenceValues(fence),
    lifeMs,
    reason,
  ])
  return row?.attempt
}
