import { sql, type Queryable } from '../../../database/database.ts'
import { fenceValues, type CallFence } from './call-fence.ts'
import { decisionFragment, heldBy } from './call-fragments.ts'

const releaseStatement = sql(
  'release-claim.releaseClaim',
  `with woken as (
     update dispatch_organizations
        set ready = true
      where organization_id = $1
     returning organization_id
   )
   update calls c
      set lease_token = null,
          node_id     = null,
          claimed_at  = null,
          -- A closed lane holds its calls by itself, and may open sooner than it seemed.
          not_before  = case when $5::text is null then c.not_before
                             else coalesce($4::timestamptz, 'infinity') end,
          wait_reason = $5,
          ${decisionFragment({ decision: "'wait'", reason: '$6', until: '$4' })}
     from woken w
    where c.organization_id = w.organization_id
      and c.id = $2
      and ${heldBy('$3', 'c.lease_token')}
      and c.status = 'queued'`,
)

export interface Release {
  /** One sentence. */
  readonly reason: string
  readonly until?: Date | undefined
  /** If given, the call itself waits until then, or until it is released; by default it waits with its lane. */
  readonly waitReason?:
    | 'attempts_per_day'
    | 'carrier_congestion'
    | 'no_engine'
    | 'no_trunk'
    | 'trunk_down'
    | 'trunk_full'
    | 'no_caller_id'
    | 'caller_ids_exhausted'
    | 'caller_ids_resting'
    | undefined
}

/** Back to the queue before dialling. False: this node no longer holds the call. */
export const releaseClaim = async (
  db: Queryable,
  fence: CallFence,
  { reason, until, waitReason }: Release,
): Promise<boolean> =>
  (await db.run(releaseStatement, [
    ...fenceValues(fence),
    until ?? null,
    waitReason ?? null,
    reason,
  ])) > 0
