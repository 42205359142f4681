import { createHash } from 'node:crypto'
import type { Database, Queryable } from '../../src/database/database.ts'
import { sql } from '../../src/database/database.ts'
import { insertCall } from '../../src/domains/calls/lifecycle/insert-call.ts'
import { ensureLane, laneId, type Lane } from '../../src/domains/calls/lane-store.ts'
import type { CallRow } from '../../src/domains/calls/call-record.ts'
import {
  policyToJson,
  sandboxPolicy,
  type CallingPolicy,
} from '../../src/domains/organizations/calling-policy.ts'
import type { OrganizationMode } from '../../src/domains/organizations/organization-mode.ts'
import {
  claimCalls,
  settleExhausted,
  type CallClaim,
} from '../../src/dispatch/claim/claim-calls.ts'
import { computeDueLanes } from '../../src/dispatch/lane-edges.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { newOrganizationId } from '../../src/domains/organizations/organization-id.ts'
import { newId } from '../../src/runtime/ids.ts'

/** An organization that may call, with everything that a call needs. */
export interface CallingOrganization {
  readonly organizationId: OrganizationId
  readonly agentId: string
  readonly contactId: string
  readonly phoneNumber: string
}

const insertOrganization = sql(
  'queue-fixtures.insertOrganization',
  `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy, mode)
   values ($1, 'Test', '2026-07-16', true, $2, $3, $4)`,
)

const insertAgent = sql(
  'queue-fixtures.insertAgent',
  `insert into agents (organization_id, id, name, language, published_version)
   values ($1, $2, 'Test', 'en', 1)`,
)

const insertAgentVersion = sql(
  'queue-fixtures.insertAgentVersion',
  `insert into agent_versions (organization_id, agent_id, version, definition)
   values ($1, $2, 1, $3)`,
)

const insertContact = sql(
  'queue-fixtures.insertContact',
  `insert into contacts (organization_id, id, source, name, phone_number)
   values ($1, $2, 'manual_dial', 'Test', $3)`,
)

/** With one agent and one contact; by default open at all hours. */
export const createCallingOrganization = (
  db: Database,
  {
    concurrency = 10,
    policy = sandboxPolicy,
    phoneNumber = '+12025550100',
    mode = 'live',
  }: {
    concurrency?: number
    policy?: CallingPolicy
    phoneNumber?: string
    mode?: OrganizationMode
  } = {},
): Promise<CallingOrganization> =>
  db.transaction(async (tx) => {
    const [organizationId, agentId, contactId] = [newOrganizationId(), newId(), newId()]
    const definition = JSON.stringify({ max_duration_seconds: 600 })
    await Promise.all([
      tx.run(insertOrganization, [
        organizationId,
        concurrency,
        JSON.stringify(policyToJson(policy)),
        mode,
      ]),
      tx.run(insertAgent, [organizationId, agentId]),
      tx.run(insertAgentVersion, [organizationId, agentId, definition]),
      tx.run(insertContact, [organizationId, contactId, phoneNumber]),
    ])
    return { organizationId, agentId, contactId, phoneNumber }
  })

/** The lane of an organization's immediate calls to its own zone. */
export const immediateLane = (organizationId: OrganizationId): Lane => ({
  organizationId,
  kind: 'immediate',
  sourceId: organizationId,
  timeZones: undefined,
})

/** A batch's lane; `sourceId` is the batch. */
export const batchLane = (organizationId: OrganizationId, sourceId: string): Lane => ({
  organizationId,
  kind: 'batch',
  sourceId,
  timeZones: undefined,
})

let numbers = 0

/** A number of no other call in the tests, because two calls to one are not live at once. */
export const nextNumber = (): string => {
  numbers += 1
  return `+1202${2_000_000 + numbers}`
}

/** Queues `count` calls, due now, in an open lane, by default each to its own number. */
export const queueCalls = async (
  db: Database,
  organization: CallingOrganization,
  count: number,
  lane: Lane = immediateLane(organization.organizationId),
  phoneNumber?: string,
): Promise<CallRow[]> => {
  const rows = await db.transaction(async (tx) => {
    await ensureLane(tx, lane)
    return Promise.all(
      Array.from({ length: count }, () =>
        insertCall(tx, organization.organizationId, {
          ...organization,
          id: newId(),
          phoneNumber: phoneNumber ?? nextNumber(),
          origin: 'api',
          agentVersion: 1,
          laneId: laneId(lane),
        }),
      ),
    )
  })
  await computeDueLanes(db)
  return rows
}

/** Any statement, for what a test wants to inspect or break. */
export const execute = <Row extends object>(
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> =>
  db.rows<Row>(
    sql(`test.${createHash('sha256').update(text).digest('hex').slice(0, 32)}`, text),
    values,
  )

const maxLooks = 10_000

/** Until some statement of this database waits for a lock: an event of the server, not a time. */
export const untilBlocked = async (db: Queryable): Promise<void> => {
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const blocked = await execute(
      db,
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (blocked.length > 0) return
  }
  throw new Error('nobody waits for a lock')
}

/** A node with a valid lease, without a process behind it. */
export const insertNode = async (db: Queryable, nodeId: string): Promise<void> => {
  await execute(
    db,
    `insert into nodes (id, name, lease_until, max_channels, routes)
     values ($1, 'test', now() + interval '1 day', 1000, '{env,sandbox}')`,
    [nodeId],
  )
}

/** A trunk, by default without limits. */
export const openTrunk = async (db: Queryable, channels = 1e6, tokens = 1e6): Promise<void> => {
  await execute(
    db,
    `update routes set channels = $1, burst = $2::float8, tokens = $2::float8, refill_per_second = 0.0001,
            virtual_time = 0`,
    [channels, tokens],
  )
}

/** Empties every table that a dispatcher reads. */
export const clearOrganizations = async (db: Queryable): Promise<void> => {
  await execute(
    db,
    'truncate organizations, agents, agent_versions, contacts, dispatch_organizations, lanes, calls, nodes cascade',
  )
}

/** A claim as a turn of the dispatcher makes it: organizations that gave fewer calls than requested rest afterwards. */
export const claimAndSettle = async (
  ...[db, request]: Parameters<typeof claimCalls>
): Promise<CallClaim> => {
  const claim = await claimCalls(db, request)
  if (claim.exhausted.length > 0) await settleExhausted(db, claim.exhausted)
  return claim
}
