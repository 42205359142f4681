import { sql, type Queryable } from '../database/database.ts'

const findStatement = sql(
  'find-work.findWork',
  `with woken as (
     update dispatch_organizations
        set ready = true
      where organization_id in (select organization_id
                                  from dispatch_organizations
                                 where not ready
                                   and wake_at <= now()
                                   for no key update skip locked)
     returning organization_id
   )
   select exists (select from dispatch_organizations where ready) or exists (select from woken) as is_ready,
          exists (select from lanes where recompute_at <= now()) as has_due_lanes`,
)

export interface Work {
  /** Some organization may have a call to claim. */
  readonly isReady: boolean
  /** Some lane's opening must be computed. */
  readonly hasDueLanes: boolean
}

/** The poll: one cheap round trip that also wakes the organizations whose time has come. Idle, it writes nothing. */
export const findWork = async (db: Queryable): Promise<Work> => {
  const row = await db.row<{ is_ready: boolean; has_due_lanes: boolean }>(findStatement, [])
  return { isReady: row?.is_ready ?? false, hasDueLanes: row?.has_due_lanes ?? false }
}
