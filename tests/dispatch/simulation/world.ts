import type { Database } from '../../../src/database/database.ts'
import type { ClaimedCall } from '../../../src/dispatch/claim/claim-calls.ts'
import { createEndCall, type EndCall } from '../../../src/domains/calls/lifecycle/end-call.ts'
import type { Lane } from '../../../src/domains/calls/lane-store.ts'
import {
  sandboxPolicy,
  type CallingPolicy,
} from '../../../src/domains/organizations/calling-policy.ts'
import type { OrganizationId } from '../../../src/contract/organization-id.ts'
import { newId } from '../../../src/runtime/ids.ts'
import {
  createCallingOrganization,
  execute,
  insertNode,
  openTrunk,
  type CallingOrganization,
} from '../../support/queue-fixtures.ts'
import { createRandom, type Random } from '../../support/random.ts'
import { batchHours, clockChanges, holidayLists, homeZones, policyHours } from './calling-hours.ts'
import { setClock } from './virtual-clock.ts'

export const trunkChannels = 7
const hourMs = 3_600_000
/** A history begins up to this long before a clock change. */
const leadMs = 36 * hourMs

export interface Dial extends ClaimedCall {
  nodeId: string
  isDialled: boolean
}

/** An organization with its batch, and the policy of its last edit. */
export interface Tenant extends CallingOrganization {
  readonly batch: Pick<Lane, 'sourceId' | 'callingWindow'>
  policy: CallingPolicy
}

/**
 * One history: its database, its organizations, and what the test knows about them independently of the database.
 */
export interface World {
  readonly db: Database
  readonly tenants: readonly Tenant[]
  readonly pick: <T>(items: readonly T[]) => T
  readonly chance: (probability: number) => boolean
  /** Whether no other step runs at the same time, so that a step can be judged by the state before it. */
  readonly isAlone: boolean
  /** What the database's clock shows. */
  nowMs: number
  nodeId: string
  claimed: Dial[]
  readonly laneOfCall: Map<string, Lane>
  /** INVITEs that may have rung, by call. */
  readonly rang: Map<string, number>
  readonly ended: Map<string, number>
}

export const createWorld = async (db: Database, seed: number, isAlone: boolean): Promise<World> => {
  const random = createRandom(seed)
  const nowMs = Date.parse(random.pick(clockChanges)) - Math.floor(random.next() * leadMs)
  await setClock(db, nowMs)
  await forgetHistory(db)
  await openTrunk(db, trunkChannels)
  const tenants = [await createTenant(db, random, 3), await createTenant(db, random, 6)]
  const nodeId = newId()
  await insertNode(db, nodeId)
  return {
    db,
    tenants,
    pick: (items) => random.pick(items),
    chance: (probability) => random.chance(probability),
    isAlone,
    nowMs,
    nodeId,
    claimed: [],
    laneOfCall: new Map(),
    rang: new Map(),
    ended: new Map(),
  }
}

/** Row by row, which is faster than truncating this many tables. */
const forgetHistory = (db: Database): Promise<void> =>
  db.transaction(async (tx) => {
    await Promise.all(historyTables.map((table) => execute(tx, `delete from ${table}`)))
  })

const historyTables = [
  'calls',
  'lanes',
  'nodes',
  'dispatch_organizations',
  'contacts',
  'agent_versions',
  'agents',
  'organizations',
] as const

const createTenant = async (db: Database, random: Random, concurrency: number): Promise<Tenant> => {
  const policy = pickPolicy((items) => random.pick(items))
  const organization = await createCallingOrganization(db, { concurrency, policy })
  return {
    ...organization,
    batch: { sourceId: newId(), callingWindow: random.pick(batchHours) },
    policy,
  }
}

export const pickPolicy = (pick: World['pick']): CallingPolicy => {
  const holidays = pick(holidayLists)
  return {
    ...sandboxPolicy,
    timeZone: pick(homeZones),
    windows: pick(policyHours),
    ...(holidays.length > 0 && { holidays }),
  }
}

/** Moves the clock forward; the live node keeps renewing its lease. */
export const passTime = async (world: World, byMs: number): Promise<void> => {
  world.nowMs += byMs
  await setClock(world.db, world.nowMs)
  await execute(world.db, `update nodes set lease_until = now() + interval '1 day' where id = $1`, [
    world.nodeId,
  ])
}

export const tenantOf = (world: World, organizationId: OrganizationId): Tenant => {
  const tenant = world.tenants.find((one) => one.organizationId === organizationId)
  if (!tenant) throw new Error('a call of an unknown organization')
  return tenant
}

export const countEnd = (world: World, callId: string): void => {
  world.ended.set(callId, (world.ended.get(callId) ?? 0) + 1)
}

/** Counts how often a call ends: more than once breaks a promise. */
export const endsOf = (world: World): EndCall =>
  createEndCall([
    async (_, calls) => {
      for (const { callId } of calls) countEnd(world, callId)
    },
  ])

export const take = (world: World, isDialled: boolean): Dial | undefined => {
  const candidates = world.claimed.filter((one) => one.isDialled === isDialled)
  return candidates.length === 0 ? undefined : world.pick(candidates)
}

export const drop = (world: World, dial: Dial): void => {
  world.claimed = world.claimed.filter((one) => one !== dial)
}
