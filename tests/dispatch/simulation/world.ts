import type { Database } from '../../../src/database/database.ts'
import type { ClaimedCall } from '../../../src/dispatch/claim-calls.ts'
import type { OnCallEnded } from '../../../src/domains/calls/call-ended.ts'
import { newId } from '../../../src/runtime/ids.ts'
import {
  clearOrganizations,
  createCallingOrganization,
  insertNode,
  openTrunk,
  type CallingOrganization,
} from '../../support/queue-fixtures.ts'
import { createRandom } from '../../support/random.ts'

export const trunkChannels = 7

export interface Dial extends ClaimedCall {
  nodeId: string
  isDialled: boolean
}

/** One history: its database, its organizations, and what a test knows about them that the database must not know. */
export interface World {
  readonly db: Database
  readonly organizations: readonly CallingOrganization[]
  readonly batches: readonly string[]
  readonly pick: <T>(items: readonly T[]) => T
  readonly chance: (probability: number) => boolean
  nodeId: string
  claimed: Dial[]
  /** INVITEs that may have rung, by call. */
  readonly rang: Map<string, number>
  readonly ended: Map<string, number>
}

export const createWorld = async (db: Database, seed: number): Promise<World> => {
  await clearOrganizations(db)
  await openTrunk(db, trunkChannels)
  const random = createRandom(seed)
  const organizations = [
    await createCallingOrganization(db, { concurrency: 3 }),
    await createCallingOrganization(db, { concurrency: 6 }),
  ]
  const nodeId = newId()
  await insertNode(db, nodeId)
  return {
    db,
    organizations,
    batches: organizations.map(() => newId()),
    pick: (items) => random.pick(items),
    chance: (probability) => random.chance(probability),
    nodeId,
    claimed: [],
    rang: new Map(),
    ended: new Map(),
  }
}

export const countEnd = (world: World, callId: string): void => {
  world.ended.set(callId, (world.ended.get(callId) ?? 0) + 1)
}

/** Counts how often a call ends: once, or a promise is broken. */
export const onEnded =
  (world: World): OnCallEnded =>
  (_, call) => {
    countEnd(world, call.callId)
    return Promise.resolve()
  }

export const take = (world: World, isDialled: boolean): Dial | undefined => {
  const candidates = world.claimed.filter((one) => one.isDialled === isDialled)
  return candidates.length === 0 ? undefined : world.pick(candidates)
}

export const drop = (world: World, dial: Dial): void => {
  world.claimed = world.claimed.filter((one) => one !== dial)
}
