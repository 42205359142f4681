import { sql, type Database } from '../../src/database/database.ts'
import type { ClaimedCall } from '../../src/dispatch/claim/claim-calls.ts'
import { median, percentile, row, timed } from './figures.ts'
import { createClaimer, openStand, run, type Connection, type Stand } from './stand.ts'

/** Claims of 10 calls while 10 thousand to 1 million wait, over 1 to 10,000 organizations. */

const backlogs = [10_000, 100_000, 1_000_000]
const organizationCounts = [1, 100, 10_000]
export const callsPerClaim = 10
const claimsPerRound = 300
const warmUpClaims = 30
const widths = [9, 14, 8, 8, 8]

export interface ClaimFigures {
  /** For the largest backlog, in the slowest arrangement. */
  readonly slowestMs: number
  /** Largest backlog against the smallest, in the worst arrangement. */
  readonly worstRatio: number
}

export const measureClaims = async (server: Connection, largest: number): Promise<ClaimFigures> => {
  console.log(row(['waiting', 'organizations', 'p50 ms', 'p99 ms', 'ratio'], widths))
  const ratios: number[] = []
  const slowest: number[] = []
  for (const organizations of organizationCounts) {
    const sizes = backlogs.filter((size) => size <= largest)
    const times = await claimByTurns(server, sizes, organizations)
    const smallestMs = median(times[0] ?? [])
    for (const [index, size] of sizes.entries()) {
      const own = times[index] ?? []
      const figures = [median(own), percentile(own, 0.99), median(own) / smallestMs]
      console.log(row([String(size), String(organizations), ...figures], widths))
    }
    ratios.push(median(times.at(-1) ?? []) / smallestMs)
    slowest.push(median(times.at(-1) ?? []))
  }
  return { slowestMs: Math.max(...slowest), worstRatio: Math.max(...ratios) }
}

/** One database for each backlog, and alternating claims, so that other work of the machine affects all alike. */
const claimByTurns = async (
  server: Connection,
  sizes: readonly number[],
  organizations: number,
): Promise<number[][]> => {
  const stands: Stand[] = []
  for (const calls of sizes)
    stands.push(
      await openStand(server, `claims_${calls}_${organizations}`, { calls, organizations }),
    )
  const claimers = stands.map((stand) => createClaimer(stand, callsPerClaim))
  const times = stands.map((): number[] => [])
  for (let turn = 0; turn < warmUpClaims + claimsPerRound; turn += 1) {
    for (const [index, stand] of stands.entries()) {
      const claim = claimers[index] ?? createClaimer(stand, callsPerClaim)
      const { ms, calls } = await claimOnce(claim)
      if (turn >= warmUpClaims) times[index]?.push(ms)
      await settle(stand.db, calls)
    }
  }
  for (const stand of stands) await stand.close()
  return times
}

const claimOnce = async (claim: ReturnType<typeof createClaimer>) => {
  let calls: readonly ClaimedCall[] = []
  const ms = await timed(async () => {
    calls = (await claim()).calls
  })
  return { ms, calls }
}

const settleStatement = sql(
  'bench.settle',
  `update calls set status = 'completed', ended_at = now(), lease_token = null
    where (organization_id, id) in (select * from unnest($1::uuid[], $2::uuid[]))`,
)

/** Ends the claimed calls, so that the number of live calls stays that of a running system. */
export const settle = async (db: Database, calls: readonly ClaimedCall[]): Promise<void> => {
  await db.run(settleStatement, [
    calls.map((call) => call.organizationId),
    calls.map((call) => call.callId),
  ])
}

/** Turns with much to inspect and little or nothing to claim. */
export const measureHardTurns = async (server: Connection): Promise<void> => {
  const shape = { calls: 100_000, organizations: 100 }
  const stands = {
    'as usual': await openStand(server, 'hard_usual', shape),
    '8 empty lanes each': await openStand(server, 'hard_empty', { ...shape, emptyLanes: 8 }),
    'capacity full': await openStand(server, 'hard_full', shape),
    'lanes closed': await openStand(server, 'hard_closed', shape),
  }
  await run(stands['capacity full'].db, 'update organizations set concurrency = 1')
  await run(
    stands['capacity full'].db,
    `update calls c set lease_token = gen_random_uuid()
       from (select distinct on (organization_id) organization_id, id from calls) first
      where c.organization_id = first.organization_id and c.id = first.id`,
  )
  await run(stands['lanes closed'].db, `update lanes set opens_at = now() + interval '8 hours'`)
  const reset = `update dispatch_organizations set ready = true, wake_at = 'infinity'`
  const times = new Map(Object.keys(stands).map((name) => [name, [] as number[]]))
  const got = new Map<string, number>()
  const claimers = new Map(
    Object.entries(stands).map(([name, stand]) => [name, createClaimer(stand, callsPerClaim)]),
  )
  for (let turn = 0; turn < warmUpClaims + claimsPerRound; turn += 1) {
    for (const [name, stand] of Object.entries(stands)) {
      // Each claim finds every organization awake, as if all had just been woken in vain.
      if (turn % 10 === 0) await run(stand.db, reset)
      const { ms, calls } = await claimOnce(
        claimers.get(name) ?? createClaimer(stand, callsPerClaim),
      )
      if (turn >= warmUpClaims) times.get(name)?.push(ms)
      got.set(name, (got.get(name) ?? 0) + calls.length)
      await settle(stand.db, calls)
    }
  }
  const hardWidths = [20, 8, 8, 12]
  console.log(`\n${row(['a claim with', 'p50 ms', 'p99 ms', 'calls got'], hardWidths)}`)
  for (const [name, own] of times)
    console.log(row([name, median(own), percentile(own, 0.99), String(got.get(name))], hardWidths))
  for (const stand of Object.values(stands)) await stand.close()
}
