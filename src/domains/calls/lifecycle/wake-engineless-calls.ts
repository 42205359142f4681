import { sql, type Queryable } from '../../../database/database.ts'

// Dispatch rows are locked before calls, as everywhere.
const wakeStatement = sql(
  'wake-engineless-calls.wake',
  `with woken as (
     update dispatch_organizations
        set ready = true
      where organization_id in (select organization_id
                                  from calls
                                 where status = 'queued'
                                   and wait_reason = 'no_engine')
     returning organization_id
   )
   update calls c
      set not_before  = now(),
          wait_reason = null
     from woken w
    where c.organization_id = w.organization_id
      and c.status = 'queued'
      and c.wait_reason = 'no_engine'`,
)

/**
 * Calls that waited for an engine are judged again, once, because the present settings may serve them. Returns how
 * many.
 */
export const wakeEnginelessCalls = (db: Queryable): Promise<number> => db.run(wakeStatement, [])
