import assert from 'node:assert/strict'
import type { Database } from '../../../src/database/database.ts'
import { findWork } from '../../../src/dispatch/find-work.ts'
import { computeDueLanes } from '../../../src/dispatch/lane-edges.ts'
import { isTerminal } from '../../../src/domains/calls/call-states.ts'
import { setSourcePaused } from '../../../src/domains/calls/lane-store.ts'
import { checkPromises, observe } from './promises.ts'
import { claim, gate, letTimePass, talkAndFinish, weightedSteps } from './steps.ts'
import { createWorld, type World } from './world.ts'

const stepsPerHistory = 60
const atOnce = 4

/** A random history of the queue: everything that can happen to it, in any order; after each step, the promises. */
export const runHistory = async (db: Database, seed: number): Promise<void> => {
  const world = await createWorld(db, seed)
  let before = await observe(world)
  for (let step = 0; step < stepsPerHistory; step += 1) {
    const { name, run } = world.pick(weightedSteps)
    try {
      await run(world)
      await checkPromises(world, before)
    } catch (error) {
      throw new Error(`seed ${seed}, step ${step}, ${name}`, { cause: error })
    }
    before = await observe(world)
  }
  await drainWorld(world)
  await checkPromises(world, before)
}

/** The same with four things at a time. A node dies alone: what it did at that moment cannot be told afterwards. */
export const runCrowdedHistory = async (db: Database, seed: number): Promise<void> => {
  const world = await createWorld(db, seed)
  let before = await observe(world)
  const harmless = weightedSteps.filter(({ name }) => name !== 'killNode')
  for (let step = 0; step < stepsPerHistory / atOnce; step += 1) {
    const together = Array.from({ length: atOnce }, () => world.pick(harmless))
    // Two of one kind would pick the same call twice, which one node never does.
    const distinct = [...new Map(together.map((one) => [one.name, one])).values()]
    try {
      await Promise.all(distinct.map(({ run }) => run(world)))
      await checkPromises(world, before)
    } catch (error) {
      const names = distinct.map(({ name }) => name).join(', ')
      throw new Error(`seed ${seed}, step ${step}: ${names} at once`, { cause: error })
    }
    before = await observe(world)
  }
  await drainWorld(world)
}

/** Everything is let go on: every accepted call reaches an end. */
const drainWorld = async (world: World): Promise<void> => {
  for (const [index, organization] of world.organizations.entries()) {
    await setSourcePaused(world.db, organization.organizationId, world.batches[index] ?? '', false)
  }
  for (let round = 0; round < 200; round += 1) {
    await letTimePass(world)
    await computeDueLanes(world.db)
    await findWork(world.db)
    await claim(world)
    while (world.claimed.some((dial) => !dial.isDialled)) await gate(world)
    while (world.claimed.length > 0) await talkAndFinish(world)
    if ([...(await observe(world)).values()].every(isTerminal)) return
  }
  assert.fail('some call never ended')
}
