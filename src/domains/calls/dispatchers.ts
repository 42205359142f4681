import { sql, type Queryable } from '../../database/database.ts'

const hasStatement = sql(
  'dispatchers.hasDispatcher',
  `select exists (select
                    from nodes
                   where lease_until > clock_timestamp()
                     and rescued_at is null
                     and not draining) as has_dispatcher`,
)

const trunkStatement = sql(
  'dispatchers.hasTrunk',
  `select exists (select from trunks)
       or exists (select
                    from nodes
                   where lease_until > clock_timestamp()
                     and rescued_at is null
                     and not 'no_trunk' = any(lacks)) as has_trunk`,
)

/** Whether live organizations have a trunk. */
export const hasTrunk = async (db: Queryable): Promise<boolean> =>
  (await db.row<{ has_trunk: boolean }>(trunkStatement, []))?.has_trunk ?? false

/** Whether any dispatcher claims calls: without one, the whole queue waits. */
export const hasDispatcher = async (db: Queryable): Promise<boolean> =>
  (await db.row<{ has_dispatcher: boolean }>(hasStatement, []))?.has_dispatcher ?? false
