import { sql, type Queryable } from '../../database/database.ts'
import type { CallFence } from '../../domains/calls/lifecycle/call-fence.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { CallerNumber } from './rank-numbers.ts'

/** What the choice of a number weighs. */
export interface NumberChoiceRow {
  /** The callee. Empty once the person was erased. */
  readonly phone_number: string
  readonly numbers: readonly CallerNumber[]
  /** Of the agent's version. */
  readonly caller_ids: readonly string[] | null
  /** What this call has shown or holds, and the day on which it is counted. */
  readonly own_number: string | null
  readonly own_day: string | null
  /** What the last call to this callee showed. */
  readonly last_number: string | null
  /** Of the organization's zone. */
  readonly day: string
  readonly day_end: Date
}

/** A callee sees the number of the last call while that is not longer ago. */
const keptDays = 7

// Read after the lock, in a statement of its own, so that the counts are those of every choice before this one.
const loadStatement = sql(
  'number-choice-store.load',
  `select c.phone_number, c.caller_id as own_number, c.caller_id_day::text as own_day,
          v.definition -> 'caller_ids' as caller_ids, k.caller_id as last_number,
          t.day::text as day, (t.day + 1)::timestamp at time zone t.zone as day_end,
          coalesce((select jsonb_agg(jsonb_build_object(
                             'phone_number', n.phone_number, 'country', n.country, 'trunk', n.trunk,
                             'calls_per_day', n.calls_per_day, 'calls_today', coalesce(d.calls, 0),
                             'is_resting', coalesce(n.rests_until > clock_timestamp(), false),
                             'rests_until_ms', case when isfinite(n.rests_until)
                                                    then floor(extract(epoch from n.rests_until) * 1000) end))
                      from caller_numbers n
                      left join lateral (select calls
                                           from caller_number_days
                                          where organization_id = n.organization_id and phone_number = n.phone_number
                                            and day = t.day
                                          limit 1) d on true
                     where n.organization_id = c.organization_id), '[]') as numbers
     from calls c
     join organizations o on o.id = c.organization_id
    cross join lateral (select o.policy ->> 'time_zone' as zone,
                               (clock_timestamp() at time zone (o.policy ->> 'time_zone'))::date as day) t
     left join lateral (select definition
                          from agent_versions
                         where organization_id = c.organization_id and agent_id = c.agent_id and version = c.agent_version
                         limit 1) v on true
     left join lateral (select x.caller_id
                          from calls x
                         where x.organization_id = c.organization_id
                           and x.phone_number = c.phone_number
                           and x.dialing_at > now() - interval '${keptDays} days'
                         order by x.dialing_at desc
                         limit 1) k on true
    where c.organization_id = $1
      and c.id = $2`,
)

export const loadNumberChoice = (
  db: Queryable,
  { organizationId, callId }: CallFence,
): Promise<NumberChoiceRow | undefined> =>
  db.row<NumberChoiceRow>(loadStatement, [organizationId, callId])

const lockStatement = sql(
  'number-choice-store.lockOrganization',
  `select
     from dispatch_organizations
    where organization_id = $1
      for no key update`,
)

/** Until commit: numbers change before it, or after it. */
export const lockOrganization = async (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<void> => {
  await db.run(lockStatement, [organizationId])
}

// Of a call that was given its number and was not dialled: it waits again.
const giveBackStatement = sql(
  'number-choice-store.giveBack',
  `with held as (
     select id, caller_id, caller_id_day
       from calls
      where organization_id = $1
        and id = $2
        and caller_id_day is not null
        and dialing_at is null
        and lease_token is null
        for update
   ),
   cleared as (
     update calls c
        set caller_id_day = null
       from held h
      where c.organization_id = $1
        and c.id = h.id
   )
   update caller_number_days d
      set calls = d.calls - 1
     from held h
    where d.organization_id = $1
      and d.phone_number = h.caller_id
      and d.day = h.caller_id_day`,
)

/** The call no longer counts for its number, unless another node has taken it meanwhile. */
export const giveNumberBack = async (db: Queryable, fence: CallFence): Promise<void> => {
  await db.run(giveBackStatement, [fence.organizationId, fence.callId])
}
