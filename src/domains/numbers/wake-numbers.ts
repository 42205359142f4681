import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'

/** Waiting for a number to call from. */
const waits = `c.status = 'queued'
      and c.wait_reason in ('no_caller_id', 'caller_ids_exhausted', 'caller_ids_resting')`

const lockStatement = sql(
  'wake-numbers.wakeOrganization',
  `update dispatch_organizations
      set ready = true
    where organization_id = $1`,
)

const wakeStatement = sql(
  'wake-numbers.wakeCalls',
  `update calls c
      set not_before = now()
    where c.organization_id = $1
      and ${waits}
      and c.lease_token is null
      and c.not_before > now()`,
)

/**
 * Calls of the organization that waited for a number are judged again, once, after a change of its numbers. A choice
 * that found no number holds the organization's row while it looks once more and releases its call. So the calls are
 * looked for in a later statement than the lock, and no call goes to sleep over a change that it did not see.
 */
export const wakeCallsForNumbers = async (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<void> => {
  await db.run(lockStatement, [organizationId])
  await db.run(wakeStatement, [organizationId])
}

const wakeEveryStatement = sql(
  'wake-numbers.wakeNumberless',
  `with woken as (
     update dispatch_organizations
        set ready = true
      where organization_id in (select c.organization_id
                                  from calls c
                                 where ${waits}
                                   and c.wait_reason = 'no_caller_id')
     returning organization_id
   )
   update calls c
      set not_before  = now()
     from woken w
    where c.organization_id = w.organization_id
      and ${waits}
      and c.wait_reason = 'no_caller_id'
      and c.lease_token is null
      and c.not_before > now()`,
)

/** At a start: the present OUTDIAL_CALLER_ID may serve calls of organizations without a number. */
export const wakeNumberlessCalls = async (db: Queryable): Promise<void> => {
  await db.run(wakeEveryStatement, [])
}
