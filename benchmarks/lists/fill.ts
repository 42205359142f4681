import { sql, type Database } from '../../src/database/database.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { newOrganizationId } from '../../src/domains/organizations/organization-id.ts'

/**
 * Rows of one organization, as a large customer has them after a year; calls and half as many runs, a quarter as
 * many contacts.
 */
export interface Filled {
  readonly organizationId: OrganizationId
  /** The n-th id of a kind, as `id_of` makes it. */
  readonly idOf: (kind: 'agent' | 'contact' | 'batch' | 'run' | 'automation', n: number) => string
}

const kinds = { agent: 1, contact: 2, batch: 3, run: 4, automation: 5, call: 6 } as const

/** Agents and Automations; the first has half of all calls. */
export const owners = 10
/** The contact that every tenth call goes to. */
export const busyContact = 0
export const callsPerBatch = 1_000

const idOf = (kind: keyof typeof kinds, n: number): string =>
  `00000000-0000-7000-${8000 + kinds[kind]}-${n.toString(16).padStart(12, '0')}`

const idText = (kind: keyof typeof kinds, n: string): string =>
  `('00000000-0000-7000-${8000 + kinds[kind]}-' || lpad(to_hex(${n}), 12, '0'))::uuid`

let statements = 0

const run = (db: Database, text: string, values: readonly unknown[] = []): Promise<number> => {
  statements += 1
  return db.run(sql(`fill.${statements}`, text), values)
}

/**
 * Agents, contacts and results are correlated as in reality, so that combinations of common values may match
 * nothing: the first agent never fails, the busy contact is called by no other, a batch has one agent. Nothing is
 * analyzed.
 */
export const fill = async (db: Database, calls: number): Promise<Filled> => {
  const organizationId = newOrganizationId()
  await run(db, `alter system set autovacuum = off`)
  await run(db, `select pg_reload_conf()`)
  await run(
    db,
    `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy)
     values ($1, 'bench', '2026-07-16', true, 10, '{}')`,
    [organizationId],
  )
  await run(
    db,
    `insert into agents (organization_id, id, name, language, published_version)
     select $1::uuid, ${idText('agent', 'n')}, 'bench', 'en', 1 from generate_series(0, $2::integer - 1) as n`,
    [organizationId, owners],
  )
  await withoutIndexes(db, 'contacts', () =>
    run(
      db,
      `insert into contacts (organization_id, id, source, external_id, name, phone_number, created_at)
       select $1::uuid, ${idText('contact', 'n')}, case when n % 1000 = 0 then 'rare' else 'crm' end, 'c' || n, 'Contact',
              '+1202' || lpad(n::text, 7, '0'), now() - (n || ' seconds')::interval
         from generate_series(0, $2::integer - 1) as n`,
      [organizationId, calls / 4],
    ),
  )
  await withoutIndexes(db, 'calls', () => run(db, callsText, [organizationId, calls]))
  await withoutIndexes(db, 'automation_runs', () => run(db, runsText, [organizationId, calls / 2]))
  await withoutIndexes(db, 'recordings', () => run(db, recordingsText, [organizationId]))
  return { organizationId, idOf }
}

const instant = `now() - (n || ' seconds')::interval`

const callsText = `insert into calls (organization_id, id, origin, status, answer_status, contact_id, agent_id, agent_version, phone_number,
                   batch_id, automation_run_id, lane_id, ended_at, created_at)
   select $1::uuid, ${idText('call', 'n')}, 'api', status, 'answered', ${idText('contact', 'contact')},
          ${idText('agent', 'agent')}, 1, '+12025550100',
          case when n % 4000 < ${callsPerBatch} then ${idText('batch', '(n / 4000)')} end,
          case when n % 4000 >= 2000 then ${idText('run', '(n / 2)')} end,
          $1, case when status <> 'queued' then now() end, ${instant}
     from generate_series(0, $2::integer - 1) as n
    cross join lateral (
      select case when n / 4000 % 2 = 0 then 0 else 1 + n / 8000 % ${owners - 1} end as agent
    ) a
    cross join lateral (
      select case when n < 500 then 'queued'
                  when agent > 0 and n % 7 = 0 then 'failed'
                  when n % 11 = 0 then 'cancelled' else 'completed' end as status,
             case when agent = 0 and n % 5 = 0 then ${busyContact} else 1 + n % ($2::integer / 4 - 1) end as contact
    ) s`

const runsText = `insert into automation_runs (organization_id, id, origin, automation_id, automation_version, contact_id, status,
                             failure_code, created_at)
   select $1::uuid, ${idText('run', 'n')}, 'api', ${idText('automation', 'automation')}, 1, ${idText('contact', 'contact')},
          status, case when status = 'failed' then 'call_failed' end, ${instant}
     from generate_series(0, $2::integer - 1) as n
    cross join lateral (
      select case when n / 4000 % 2 = 0 then 0 else 1 + n / 8000 % ${owners - 1} end as automation
    ) a
    cross join lateral (
      select case when automation > 0 and n % 7 = 0 then 'failed' else 'completed' end as status,
             case when automation = 0 and n % 5 = 0 then ${busyContact} else 1 + n % ($2::integer / 2 - 1) end as contact
    ) s`

const recordingsText = `insert into recordings (organization_id, id, call_id, is_api_call, contact_id, recorded_at, status, storage_key,
                        duration_seconds, size_bytes)
   select organization_id, id, id, true, contact_id, created_at, 'ready', 'key', 60, 1000
     from calls
    where organization_id = $1
      and status = 'completed'`

/** Creating an index over existing rows is many times faster than maintaining it during inserts. */
const withoutIndexes = async (
  db: Database,
  table: string,
  work: () => Promise<unknown>,
): Promise<void> => {
  statements += 1
  const found = await db.rows<{ name: string; definition: string }>(
    sql(
      `fill.${statements}`,
      `select indexname as name, indexdef as definition
         from pg_indexes
        where tablename = $1
          and indexdef not like 'CREATE UNIQUE%'`,
    ),
    [table],
  )
  for (const { name } of found) await run(db, `drop index ${name}`)
  // References are not checked per row either.
  await run(db, `alter table ${table} disable trigger all`)
  await work()
  await run(db, `alter table ${table} enable trigger all`)
  for (const { definition } of found) await run(db, definition)
}
