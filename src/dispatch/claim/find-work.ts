import { sql, type Queryable } from '../../database/database.ts'
import type { RouteName } from '../../domains/organizations/organization-mode.ts'

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
     returning route
   )
   select array(select served.route
                  from unnest($1::text[]) as served (route)
                 where not exists (select from routes r where r.name = served.route and r.down_since is not null)
                   and (exists (select from dispatch_organizations d where d.ready and d.route = served.route)
                    or exists (select from woken w where w.route = served.route))) as ready_routes,
          exists (select from lanes where recompute_at <= now()) as has_due_lanes`,
)

interface Work {
  /** Of the requested routes, those with an organization that may have a call to claim. */
  readonly readyRoutes: readonly RouteName[]
  /** Some lane's opening must be computed. */
  readonly hasDueLanes: boolean
}

/**
 * The poll: one cheap round trip that also wakes the organizations whose time has come. When idle, it writes
 * nothing.
 */
export const findWork = async (db: Queryable, routes: readonly RouteName[]): Promise<Work> => {
  const row = await db.row<{ ready_routes: RouteName[]; has_due_lanes: boolean }>(findStatement, [
    routes,
  ])
  return { readyRoutes: row?.ready_routes ?? [], hasDueLanes: row?.has_due_lanes ?? false }
}
