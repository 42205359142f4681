import assert from 'node:assert/strict'
import type { Database } from '../../../src/database/database.ts'
import { isTerminal } from '../../../src/domains/calls/lifecycle/call-states.ts'
import { setSourcePaused } from '../../../src/domains/calls/lane-store.ts'
import { checkPromises, observe } from './promises.ts'
import { execute } from '../../support/queue-fixtures.ts'
import { gate, takeTurn, talkAndFinish, weightedSteps } from './steps.ts'
import { createWorld, passTime, type World } from './world.ts'

const stepsPerHistory = 40
const atOnce = 4
/** Steps of a drain: a week has fewer edges than this. */
const maxRounds = 200
const idleMs = 60_000

/** A random history of the queue: all its events, in any order; after each step, the promises are checked. */
export const runHistory = async (db: Database, seed: number): Promise<void> => {
  const world = await createWorld(db, seed, true)
  let before = await observe(world.db)
  for (let step = 0; step < stepsPerHistory; step += 1) {
    const { name, run } = world.pick(weightedSteps)
    try {
      await run(world)
      before = await checkPromises(world, before)
    } catch (error) {
      throw new Error(`seed ${seed}, step ${step}, ${name}`, { cause: error })
    }
  }
  await drainWorld(world)
  await checkPromises(world, before)
}

/**
 * The same with four concurrent steps. A node dies alone, because the effect of its concurrent steps would be
 * unknown.
 */
export const runCrowdedHistory = async (db: Database, seed: number): Promise<void> => {
  const world = await createWorld(db, seed, false)
  let before = await observe(world.db)
  const harmless = weightedSteps.filter(({ name }) => name !== 'killNode')
  for (let step = 0; step < stepsPerHistory / atOnce; step += 1) {
    const together = Array.from({ length: atOnce }, () => world.pick(harmless))
    // Two of one kind would pick the same call twice, which one node never does.
    const distinct = [...new Map(together.map((one) => [one.name, one])).values()]
    try {
      await Promise.all(distinct.map(({ run }) => run(world)))
      before = await checkPromises(world, before)
    } catch (error) {
      const names = distinct.map(({ name }) => name).join(', ')
      throw new Error(`seed ${seed}, step ${step}: ${names} at once`, { cause: error })
    }
  }
  await drainWorld(world)
}

/** Everything may continue, from one edge to the next: every accepted call reaches an end. */
const drainWorld = async (world: World): Promise<void> => {
  for (const { organizationId, batch } of world.tenants)
    await setSourcePaused(world.db, organizationId, batch.sourceId, false)
  for (let round = 0; round < maxRounds; round += 1) {
    await takeTurn(world)
    while (world.claimed.some((dial) => !dial.isDialled)) await gate(world)
    while (world.claimed.length > 0) await talkAndFinish(world)
    if ([...(await observe(world.db)).values()].every(isTerminal)) return
    await passTime(world, (await nextEdgeMs(world)) - world.nowMs)
  }
  assert.fail('some call never ended')
}

/** When something is due next according to the database; after a while if nothing is. */
const nextEdgeMs = async (world: World): Promise<number> => {
  const [row] = await execute<{ edge: Date | null }>(
    world.db,
    `select min(edge) as edge
       from (select opens_at from lanes union all select recompute_at from lanes
             union all select not_before from calls where status = 'queued') as due (edge)
      where edge > now() and isfinite(edge)`,
  )
  return row?.edge ? Math.max(row.edge.getTime(), world.nowMs + 1) : world.nowMs + idleMs
}
