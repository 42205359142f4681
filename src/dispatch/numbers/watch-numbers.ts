import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Database } from '../../database/database.ts'
import { maskedNumber } from '../../domains/organizations/do-not-call.ts'
import type { Logger } from '../../runtime/logger.ts'
import { judgeNumber } from './judge-number.ts'

/** How long a flagged number rests by itself. Then it is judged by new calls only. */
const restHours = 24

interface JudgedRow {
  readonly organization_id: OrganizationId
  readonly phone_number: string
  readonly is_flagged: boolean
  readonly recent_calls: number
  readonly recent_answered: number
  readonly recent_declined: number
  readonly recent_rejected: number
  readonly calls_before: number
  readonly answered_before: number
}

// Of all organizations: those in use that have new results, and those whose flag may go.
const loadStatement = sql(
  'watch-numbers.load',
  `select n.organization_id, n.phone_number, n.flag_reason is not null as is_flagged, s.*
     from caller_numbers n
     join organizations o on o.id = n.organization_id
    cross join lateral (select (now() at time zone (o.policy ->> 'time_zone'))::date as day) t
    cross join lateral (
      select coalesce(sum(r.calls)    filter (where r.day >= greatest(t.day - 1, n.judged_from)), 0)::integer as recent_calls,
             coalesce(sum(r.answered) filter (where r.day >= greatest(t.day - 1, n.judged_from)), 0)::integer as recent_answered,
             coalesce(sum(r.declined) filter (where r.day >= greatest(t.day - 1, n.judged_from)), 0)::integer as recent_declined,
             coalesce(sum(r.rejected) filter (where r.day >= greatest(t.day - 1, n.judged_from)), 0)::integer as recent_rejected,
             coalesce(sum(r.calls)    filter (where r.day < t.day - 1), 0)::integer as calls_before,
             coalesce(sum(r.answered) filter (where r.day < t.day - 1), 0)::integer as answered_before
        from caller_number_results r
       where r.organization_id = n.organization_id
         and r.phone_number = n.phone_number
         and r.day >= t.day - 8) s
    where (n.rests_until is null or n.rests_until <= now())
      and (s.recent_calls > 0 or n.flag_reason is not null)`,
)

// A number of several nodes' looks is flagged by one of them.
const flagStatement = sql(
  'watch-numbers.flag',
  `update caller_numbers n
      set flag_reason = $3,
          flagged_at  = now(),
          rests_until = case when n.rest_when_flagged then now() + interval '${restHours} hours' else n.rests_until end,
          rest_reason = case when n.rest_when_flagged then $3 else n.rest_reason end,
          judged_from = case when n.rest_when_flagged
                             then ((now() + interval '${restHours} hours') at time zone (o.policy ->> 'time_zone'))::date
                             else n.judged_from end
     from organizations o
    where o.id = n.organization_id
      and n.organization_id = $1
      and n.phone_number = $2
      and n.flag_reason is null
   returning n.rest_when_flagged as rests`,
)

const unflagStatement = sql(
  'watch-numbers.unflag',
  `update caller_numbers
      set flag_reason = null, flagged_at = null
    where organization_id = $1
      and phone_number = $2
      and flag_reason is not null`,
)

/** Flags numbers that look spoiled, lets those rest that should, and takes the flag from those that look well again. */
export const watchNumbers = async (db: Database, logger: Logger): Promise<void> => {
  for (const row of await db.rows<JudgedRow>(loadStatement, [])) {
    const key = [row.organization_id, row.phone_number]
    const reason = judgeNumber({
      recent: {
        calls: row.recent_calls,
        answered: row.recent_answered,
        declined: row.recent_declined,
        rejected: row.recent_rejected,
      },
      before: { calls: row.calls_before, answered: row.answered_before },
    })
    if (reason === undefined && row.is_flagged) await db.run(unflagStatement, key)
    if (reason === undefined || row.is_flagged) continue
    const flagged = await db.row<{ rests: boolean }>(flagStatement, [...key, reason])
    if (flagged === undefined) continue
    const number = maskedNumber(row.phone_number)
    const told = { organization_id: row.organization_id, number, reason, rests: flagged.rests }
    logger.warn(told, 'a number looks spoiled')
  }
}
