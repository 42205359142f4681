import type { Database } from '../../src/database/database.ts'
import { execute, type CallingOrganization } from './queue-fixtures.ts'

/** How many rows of each kind an organization of `growTables` has. */
export const grown = {
  ended: 6_000,
  queued: 4_000,
  live: 1_000,
  /** Of the queued ones: claimed a while ago by a node that no longer knows it. */
  lost: 50,
  contacts: 3_000,
  runs: 2_000,
  lanes: 600,
  /** Each with an agent and a version. */
  agents: 200,
} as const

/** One for the batches of a sixth of the calls, and the Automation of the runs. */
export interface Grown {
  readonly batchId: string
  readonly automationId: string
}

const calls = grown.ended + grown.queued + grown.live

/** The n-th id of a kind: the same in every run. */
const id = (kind: number, n: string): string =>
  `('00000000-0000-7000-800${kind}-' || lpad(to_hex(${n}), 12, '0'))::uuid`

const texts = [
  `insert into agents (organization_id, id, name, language, published_version)
   select $1, ${id(1, 'n')}, 'Test', 'en', 1 from generate_series(1, ${grown.agents}) n`,
  `insert into agent_versions (organization_id, agent_id, version, definition)
   select organization_id, id, 1, '{}' from agents where organization_id = $1
   on conflict do nothing`,
  `insert into contacts (organization_id, id, source, external_id, name, phone_number)
   select $1, ${id(2, 'n')}, 'crm', 'c' || n, 'Test', '+1202' || (3000000 + n)
     from generate_series(1, ${grown.contacts}) n`,
  `insert into dnc_numbers (organization_id, phone_number, origin)
   select $1, '+1303' || (2000000 + n), 'operator' from generate_series(1, ${grown.contacts}) n`,
  `insert into lanes (organization_id, id, kind, source_id, time_zones, rank, opens_at, closes_at, recompute_at)
   select $1, ${id(3, 'n')}, 'batch', ${id(3, 'n')}, '', 2, 'infinity', 'infinity', 'infinity'
     from generate_series(1, ${grown.lanes}) n`,
  `insert into batches (organization_id, id, origin, status, name, agent_id, total_recipients)
   select $1, ${id(3, 'n')}, 'api', 'in_progress', 'Test', ${id(1, '1')}, 1000
     from generate_series(1, ${grown.lanes}) n`,
  `insert into calls (organization_id, id, origin, status, answer_status, contact_id, agent_id, agent_version,
                      phone_number, batch_id, automation_run_id, lane_id, not_before, lease_token, node_id, claimed_at,
                      deadline_at, dialing_at, connected_at, ended_at, route, created_at)
   select $1, ${id(4, 'n')}, 'api', status, case status when 'completed' then 'answered' end,
          ${id(2, `1 + n % ${grown.contacts}`)}, ${id(1, '1')}, 1, '+1202' || (3000000 + n % ${grown.contacts}),
          case when n % 6 = 0 then ${id(3, `1 + n % ${grown.lanes}`)} end,
          case when n % 6 = 1 then ${id(5, `n % ${grown.runs}`)} end,
          case when n % 6 = 0 then ${id(3, `1 + n % ${grown.lanes}`)} else lane.id end, now() - interval '1 day',
          case when is_lost or status = 'in_progress' then gen_random_uuid() end,
          case when is_lost or status <> 'queued' then $2::uuid end,
          case when is_lost then now() - interval '1 hour' when status <> 'queued' then now() end,
          case when status <> 'queued' then now() + interval '1 hour' end,
          case when status <> 'queued' then now() end, case when status <> 'queued' then now() end,
          case status when 'completed' then now() end, case status when 'in_progress' then 'env' end,
          now() - n * interval '1 second'
     from (select id from lanes where organization_id = $1 and kind = 'immediate') as lane
    cross join (select n, case when n <= ${grown.live} then 'in_progress'
                               when n <= ${grown.live + grown.queued} then 'queued' else 'completed' end as status,
                      n > ${grown.live} and n <= ${grown.live + grown.lost} as is_lost
                  from generate_series(1, ${calls}) n) as made`,
  `insert into transcript_turns (organization_id, call_id, sequence, id, speaker, text, audio_offset_ms)
   select organization_id, id, 0, gen_random_uuid(), 'agent', 'Good morning.', 0 from calls where status = 'completed'
   on conflict do nothing`,
  `insert into results (organization_id, call_id, kind, status, revision, content_hash, generated_at)
   select organization_id, id, kind, 'ready', 1, '', now()
     from calls cross join unnest('{summary,transcript}'::text[]) as kind where status = 'completed'
   on conflict do nothing`,
  `insert into result_revisions (organization_id, call_id, kind, revision, content, content_hash, generated_at, superseded_at)
   select organization_id, call_id, kind, 1, '{}', '', now(), case kind when 'summary' then now() - interval '1 hour' end
     from results
   on conflict do nothing`,
  `insert into daily_usage (organization_id, day, agent_id, api_key_id, slot, calls, answered, connected_seconds,
                            model_cost_microusd)
   select $1, current_date - n % 400, ${id(1, `1 + n % ${grown.agents}`)}, ${id(7, 'n % 5')}, n % 4, 1, 1, 60, 0
     from generate_series(1, 4000) n
   on conflict do nothing`,
  `insert into automations (organization_id, id, name, status, published_version)
   select $1, ${id(6, 'n')}, 'Test', 'active', 1 from generate_series(1, ${grown.agents}) n`,
  `insert into automation_runs (organization_id, id, origin, automation_id, automation_version, contact_id, status,
                                wake_at, due_at, wait_reason, phase)
   select $1, ${id(5, 'n')}, 'api', ${id(6, '1')}, 1, ${id(2, 'n')}, 'waiting',
          now() + case when n <= 20 then interval '-1 hour' else interval '1 day' end, now(), 'wait_step', 'wait'
     from generate_series(1, ${grown.runs}) n`,
  `insert into automation_run_moves (organization_id, run_id, sequence, move, reason)
   select organization_id, id, 0, 'start', 'Test' from automation_runs where organization_id = $1`,
  `insert into idempotency_claims (organization_id, key, fingerprint, status, body)
   select $1, 'k' || n, '', 202, '{}' from generate_series(1, ${grown.contacts}) n`,
  // Other tenants, with an immediate lane each.
  `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy, mode)
   select ${id(7, 'n')}, 'Test', '2026-07-16', true, 1, '{}', 'live' from generate_series(1, ${grown.lanes}) n`,
  `insert into dispatch_organizations (organization_id, route)
   select ${id(7, 'n')}, 'env' from generate_series(1, ${grown.lanes}) n`,
]

/** Fills the tables of an organization that has an immediate lane, and of many idle ones. Nothing is analyzed. */
export const growTables = async (
  db: Database,
  { organizationId }: CallingOrganization,
  nodeId: string,
): Promise<Grown> => {
  await db.transaction(async (tx) => {
    // Without checks per row, and without invalidating cached plans.
    await execute(tx, 'set local session_replication_role = replica')
    for (const text of texts) {
      const values = [organizationId, nodeId].slice(
        0,
        text.includes('$2') ? 2 : text.includes('$1') ? 1 : 0,
      )
      await execute(tx, text, values)
    }
  })
  const [row] = await execute<Grown>(
    db,
    `select ${id(3, '1')} as "batchId", ${id(6, '1')} as "automationId"`,
  )
  if (!row) throw new Error('no ids')
  return row
}

/** This many calls that ended long ago, with their dependent rows: the content of outdated statistics. */
export const endSomeCalls = async (
  db: Database,
  organization: CallingOrganization,
  count: number,
): Promise<void> => {
  await db.transaction(async (tx) => {
    await execute(tx, 'set local session_replication_role = replica')
    await execute(
      tx,
      `insert into calls (organization_id, id, origin, status, answer_status, contact_id, agent_id, agent_version,
                          phone_number, lane_id, node_id, claimed_at, dialing_at, connected_at, ended_at)
       select $1, gen_random_uuid(), 'api', 'completed', 'answered', $2, $3, 1, $4, $1, $1, now(), now(), now(), now()
         from generate_series(1, $5)`,
      [
        organization.organizationId,
        organization.contactId,
        organization.agentId,
        organization.phoneNumber,
        count,
      ],
    )
    await execute(
      tx,
      `insert into contacts (organization_id, id, source, external_id, name, phone_number)
       select $1, gen_random_uuid(), 'crm', 'old' || n, 'Test', '+1202' || (2900000 + n)
         from generate_series(1, $2) n`,
      [organization.organizationId, count],
    )
    await execute(
      tx,
      `insert into results (organization_id, call_id, kind, status, revision, content_hash, generated_at)
       select organization_id, id, 'summary', 'ready', 1, '', now() from calls`,
    )
  })
}
