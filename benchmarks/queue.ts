/**
 * Claims of 10 calls while 10 thousand to 1 million wait, over 1 to 10,000 organizations. PostgreSQL is the embedded
 * one with fsync on; tables are analyzed. Usage: `npm run bench queue -- [largest backlog]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql, type Database } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded-postgres.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { claimCalls, type ClaimedCall } from '../src/dispatch/claim-calls.ts'
import { newId } from '../src/runtime/ids.ts'
import { silentLogger } from '../src/runtime/logger.ts'

const backlogs = [10_000, 100_000, 1_000_000]
const organizationCounts = [1, 100, 10_000]
const claimsPerRound = 300
const warmUpClaims = 30
const callsPerClaim = 10
const lanesPerOrganization = 3
const goalRatio = 1.5
const goalMs = 2

interface Round {
  readonly backlog: number
  readonly organizations: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly callsPerSecond: number
}

const main = async (): Promise<void> => {
  const largest = Number(process.argv[2] ?? backlogs.at(-1))
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const server = await startEmbedded(folder)
  try {
    const { connection } = server
    await migrate({
      connection,
      folder: join(import.meta.dirname, '../migrations'),
      logger: silentLogger,
    })
    const db = openDatabase({ connection, logger: silentLogger, statementTimeoutMs: 600_000 })
    const rounds: Round[] = []
    console.log('  backlog  organizations   p50 ms   p99 ms   calls/s')
    for (const organizations of organizationCounts) {
      for (const backlog of backlogs.filter((size) => size <= largest)) {
        const round = await runRound(db, backlog, organizations)
        rounds.push(round)
        console.log(tableLine(round))
      }
    }
    await db.stop()
    console.log(conclusion(rounds, largest))
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const runRound = async (db: Database, backlog: number, organizations: number): Promise<Round> => {
  await fill(db, backlog, organizations)
  const nodeId = newId()
  const claim = async (): Promise<readonly ClaimedCall[]> =>
    (await claimCalls(db, { nodeId, limit: callsPerClaim, except: [] })).calls
  for (let i = 0; i < warmUpClaims; i += 1) await settle(db, await claim())
  const timesMs: number[] = []
  let calls = 0
  for (let i = 0; i < claimsPerRound; i += 1) {
    const startedMs = performance.now()
    const claimed = await claim()
    timesMs.push(performance.now() - startedMs)
    calls += claimed.length
    await settle(db, claimed)
  }
  timesMs.sort((a, b) => a - b)
  const totalMs = timesMs.reduce((sum, ms) => sum + ms, 0)
  return {
    backlog,
    organizations,
    p50Ms: timesMs[Math.floor(timesMs.length * 0.5)] ?? Number.NaN,
    p99Ms: timesMs[Math.floor(timesMs.length * 0.99)] ?? Number.NaN,
    callsPerSecond: (calls / totalMs) * 1000,
  }
}

const run = (db: Database, name: string, text: string, values: readonly unknown[] = []) =>
  db.run(sql(`bench.${name}`, text), values)

/** Every organization has one agent, one contact, and three lanes: immediate calls and two batches. */
const fill = async (db: Database, backlog: number, organizations: number): Promise<void> => {
  await run(
    db,
    'empty',
    'truncate organizations, agents, agent_versions, contacts, dispatch_organizations, lanes, calls cascade',
  )
  await run(
    db,
    'organizations',
    `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy)
     select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'bench', '2026-07-16', true, 1000, '{}'
       from generate_series(1, $1) as n`,
    [organizations],
  )
  await run(
    db,
    'agents',
    `insert into agents (organization_id, id, name, language, published_version)
     select id, id, 'bench', 'en', 1 from organizations`,
  )
  await run(
    db,
    'versions',
    `insert into agent_versions (organization_id, agent_id, version, definition)
     select id, id, 1, '{}' from organizations`,
  )
  await run(
    db,
    'lanes',
    `insert into lanes (organization_id, id, kind, source_id, time_zones, rank, opens_at, closes_at, recompute_at)
     select o.id, gen_random_uuid(), case k when 1 then 'immediate' else 'batch' end, gen_random_uuid(), '',
            case k when 1 then 0 else 2 end, now() - interval '1 hour', now() + interval '8 hours', 'infinity'
       from organizations o cross join generate_series(1, $1::integer) as k`,
    [lanesPerOrganization],
  )
  await run(
    db,
    'calls',
    `with lane as materialized (
       select organization_id, id, row_number() over (order by id) - 1 as position
         from lanes
     )
     insert into calls (organization_id, id, origin, contact_id, agent_id, agent_version, phone_number, lane_id, not_before)
     select l.organization_id, gen_random_uuid(), 'api', l.organization_id, l.organization_id, 1, '+12025550100', l.id,
            now() - interval '1 hour' + n * interval '1 millisecond'
       from generate_series(1, $1::integer) as n
       join lane l on l.position = n % $2::integer`,
    [backlog, organizations * lanesPerOrganization],
  )
  await run(
    db,
    'trunk',
    'update trunk set channels = 1000000, burst = 1e9, tokens = 1e9, refill_per_second = 1e9',
  )
  for (const table of ['calls', 'lanes', 'dispatch_organizations', 'organizations', 'trunk']) {
    await run(db, `analyze.${table}`, `vacuum analyze ${table}`)
  }
}

/** Ends what was claimed, so that the number of live calls stays that of a running system. */
const settle = async (db: Database, calls: readonly ClaimedCall[]): Promise<void> => {
  await run(
    db,
    'settle',
    `update calls set status = 'completed', ended_at = now(), lease_token = null
      where (organization_id, id) in (select * from unnest($1::uuid[], $2::uuid[]))`,
    [calls.map((call) => call.organizationId), calls.map((call) => call.callId)],
  )
}

const tableLine = (round: Round): string =>
  [
    String(round.backlog).padStart(9),
    String(round.organizations).padStart(14),
    round.p50Ms.toFixed(2).padStart(8),
    round.p99Ms.toFixed(2).padStart(8),
    round.callsPerSecond.toFixed(0).padStart(9),
  ].join(' ')

const conclusion = (rounds: readonly Round[], largest: number): string => {
  const p50 = (backlog: number): number =>
    Math.max(...rounds.filter((round) => round.backlog === backlog).map((round) => round.p50Ms))
  const [small, large] = [p50(backlogs[0] ?? largest), p50(largest)]
  return (
    `queue: a claim of ${callsPerClaim} at ${largest} queued takes ${large.toFixed(2)} ms (p50, slowest shape), ` +
    `${(large / small).toFixed(2)} times that of ${backlogs[0]} (goal <= ${goalMs} ms, <= ${goalRatio} times)`
  )
}

await main()
