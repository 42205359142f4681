import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { CallKey } from './transcript-store.ts'

/** Rows of one day, agent and key: as many calls can end at once without waiting for each other. */
const slots = 4

/** The key of calls that no program asked for. */
export const noKey = '00000000-0000-0000-0000-000000000000'

const upsert = `on conflict (organization_id, day, agent_id, api_key_id, slot) do update
      set calls               = daily_usage.calls + excluded.calls,
          answered            = daily_usage.answered + excluded.answered,
          connected_seconds   = daily_usage.connected_seconds + excluded.connected_seconds,
          model_cost_microusd = daily_usage.model_cost_microusd + excluded.model_cost_microusd`

const columns = `organization_id, day, agent_id, api_key_id, slot, calls, answered, connected_seconds, model_cost_microusd`

/** Day, agent and key of a call. Each join finds one row by its key. */
const groupOfCall = `(c.dialing_at at time zone (o.policy ->> 'time_zone'))::date, c.agent_id,
          coalesce(c.api_key_id, b.api_key_id, r.api_key_id, '${noKey}')`
const joined = `from calls c
     join organizations o on o.id = c.organization_id
     left join lateral (select api_key_id
                          from batches
                         where organization_id = c.organization_id and id = c.batch_id
                         limit 1) as b on true
     left join lateral (select api_key_id
                          from automation_runs
                         where organization_id = c.organization_id and id = c.automation_run_id
                         limit 1) as r on true`

// In the order of the key, so that two statements never wait for each other in a circle.
const countStatement = sql(
  'count-usage.countCalls',
  `insert into daily_usage (${columns})
   select c.organization_id, ${groupOfCall}, $3::smallint,
          count(*), count(*) filter (where c.answer_status = 'answered'), coalesce(sum(c.duration_seconds), 0),
          coalesce(sum(u.cost_microusd), 0)
     ${joined}
     left join lateral (select cost_microusd
                          from call_usage
                         where organization_id = c.organization_id and call_id = c.id and purpose = 'conversation'
                         limit 1) as u on true
    where c.organization_id = $1
      and c.id = any($2::uuid[])
      and '' || c.status <> 'queued'
      and c.dialing_at is not null
    group by 1, 2, 3, 4
    order by 2, 3, 4
   ${upsert}`,
)

/** Counts calls that have just ended, in the transaction of their end. Those that were never dialled count for nothing. */
export const countUsage = async (
  db: Queryable,
  organizationId: OrganizationId,
  callIds: readonly string[],
): Promise<void> => {
  const [first] = callIds
  if (first !== undefined) await db.run(countStatement, [organizationId, callIds, slotOf(first)])
}

const addCostStatement = sql(
  'count-usage.addModelCost',
  `insert into daily_usage (${columns})
   select c.organization_id, ${groupOfCall}, $3::smallint, 0, 0, 0, $4::bigint
     ${joined}
    where c.organization_id = $1
      and c.id = $2
      and '' || c.status <> 'queued'
      and c.dialing_at is not null
   ${upsert}`,
)

/** Adds what was paid for a call after its end: for its summary. */
export const addModelCost = async (
  db: Queryable,
  { organizationId, callId }: CallKey,
  costMicrousd: number,
): Promise<void> => {
  await db.run(addCostStatement, [organizationId, callId, slotOf(callId), costMicrousd])
}

const slotOf = (callId: string): number => Number.parseInt(callId.slice(-1), 16) % slots
