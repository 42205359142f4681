/**
 * Claims of 10 calls while 10 thousand to 1 million wait, over 1 to 10,000 organizations. PostgreSQL is the embedded
 * one with fsync on; tables are analyzed. Usage: `npm run bench queue -- [largest backlog]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql, type Database } from '../src/database/database.ts'
import { startEmbedded, type EmbeddedPostgres } from '../src/database/embedded-postgres.ts'
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
    const rounds: Round[] = []
    console.log('  backlog  organizations   p50 ms   p99 ms   calls/s')
    for (const organizations of organizationCounts) {
      const sizes = backlogs.filter((size) => size <= largest)
      for (const round of await runShape(server.connection, sizes, organizations)) {
        rounds.push(round)
        console.log(tableLine(round))
      }
    }
    console.log(conclusion(rounds, largest))
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** One database for each backlog, and claims by turns, so that whatever else the machine does hits all alike. */
const runShape = async (
  connection: EmbeddedPostgres['connection'],
  sizes: readonly number[],
  organizations: number,
): Promise<Round[]> => {
  const stands: Stand[] = []
  for (const backlog of sizes) stands.push(await openStand(connection, backlog, organizations))
  for (let i = 0; i < warmUpClaims + claimsPerRound; i += 1) {
    for (const stand of stands) {
      const startedMs = performance.now()
      const claimed = await claim(stand)
      const tookMs = performance.now() - startedMs
      if (i >= warmUpClaims) stand.timesMs.push(tookMs)
      if (i >= warmUpClaims) stand.calls += claimed.length
      await settle(stand.db, claimed)
    }
  }
  for (const stand of stands) await stand.close()
  return stands.map((stand) => roundOf(stand, organizations))
}

interface Stand {
  readonly backlog: number
  readonly db: Database
  readonly nodeId: string
  readonly timesMs: number[]
  calls: number
  close(): Promise<void>
}

const openStand = async (
  connection: EmbeddedPostgres['connection'],
  backlog: number,
  organizations: number,
): Promise<Stand> => {
  const name = `bench_${backlog}_${organizations}`
  const admin = openDatabase({ connection, logger: silentLogger })
  await run(admin, `create.${name}`, `create database ${name}`)
  const own = { ...connection, database: name }
  const folder = join(import.meta.dirname, '../migrations')
  await migrate({ connection: own, folder, logger: silentLogger })
  const db = openDatabase({ connection: own, logger: silentLogger, statementTimeoutMs: 600_000 })
  await fill(db, backlog, organizations)
  const close = async (): Promise<void> => {
    await db.stop()
    await run(admin, `drop.${name}`, `drop database ${name} with (force)`)
    await admin.stop()
  }
  return { backlog, db, nodeId: newId(), timesMs: [], calls: 0, close }
}

const claim = async ({ db, nodeId }: Stand): Promise<readonly ClaimedCall[]> =>
  (await claimCalls(db, { nodeId, limit: callsPerClaim, except: [] })).calls

const roundOf = ({ backlog, timesMs, calls }: Stand, organizations: number): Round => {
  const sorted = timesMs.toSorted((a, b) => a - b)
  const totalMs = sorted.reduce((sum, ms) => sum + ms, 0)
  return {
    backlog,
    organizations,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? Number.NaN,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    callsPerSecond: (calls / totalMs) * 1000,
  }
}

const run = (db: Database, name: string, text: string, values: readonly unknown[] = []) =>
  db.run(sql(`bench.${name}`, text), values)

/** Every organization has one agent, one contact, and three lanes: immediate calls and two batches. */
const fill = async (db: Database, backlog: number, organizations: number): Promise<void> => {
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

/** Ratios are taken shape by shape: only claims that took turns can be compared. */
const conclusion = (rounds: readonly Round[], largest: number): string => {
  const of = (organizations: number, backlog: number): number =>
    rounds.find((round) => round.organizations === organizations && round.backlog === backlog)
      ?.p50Ms ?? Number.NaN
  const smallest = backlogs[0] ?? largest
  const ratios = organizationCounts.map((count) => of(count, largest) / of(count, smallest))
  const slowestMs = Math.max(...organizationCounts.map((count) => of(count, largest)))
  return (
    `queue: a claim of ${callsPerClaim} at ${largest} queued takes ${slowestMs.toFixed(2)} ms (p50, slowest shape) ` +
    `and ${Math.max(...ratios).toFixed(2)} times that at ${smallest} (goal <= ${goalMs} ms, <= ${goalRatio} times)`
  )
}

await main()
