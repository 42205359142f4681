import { sql, type Queryable } from '../../../database/database.ts'
import { heldBy } from './call-fragments.ts'
import { fenceValues, type CallFence } from './call-fence.ts'

/** A call that the carrier refuses for congestion is dialled again for this long, and so often at least. */
export const maxCongestionMs = 24 * 3_600_000
/** A batch with an hour a day is not given up at its second try. */
export const minCongestions = 10

const findStatement = sql(
  'congestion-deadline.findCongestion',
  `select coalesce(1000 * extract(epoch from now() - congested_since)::double precision, 0) as lasted_ms,
          congestions
     from calls
    where organization_id = $1
      and id = $2
      and ${heldBy('$3')}`,
)

interface Congestion {
  readonly lasted_ms: number
  readonly congestions: number
}

/**
 * The reason to end a call that was refused for congestion once more, by `reason`: one sentence that names how often and
 * how long. Undefined: it is dialled again.
 */
export const findEndOfCongestion = async (
  db: Queryable,
  fence: CallFence,
  reason: string,
): Promise<string | undefined> => {
  const row = await db.row<Congestion>(findStatement, fenceValues(fence))
  if (row === undefined) return undefined
  const refusals = row.congestions + 1
  if (row.lasted_ms < maxCongestionMs || refusals < minCongestions) return undefined
  return `${reason.replace(/\.$/, '')}; refused ${refusals} times in ${Math.round(row.lasted_ms / 3_600_000)} hours, the call is given up.`
}
