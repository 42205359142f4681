import { createHash } from 'node:crypto'
import type { Database, Queryable } from '../../src/database/database.ts'
import { sql } from '../../src/database/database.ts'
import { insertCall } from '../../src/domains/calls/call-store.ts'
import { ensureLane, laneId, type Lane } from '../../src/domains/calls/lane-store.ts'
import type { CallRow } from '../../src/domains/calls/call-record.ts'
import {
  policyToJson,
  sandboxPolicy,
  type CallingPolicy,
} from '../../src/domains/organizations/calling-policy.ts'
import { computeDueLanes } from '../../src/dispatch/lane-edges.ts'
import { newId } from '../../src/runtime/ids.ts'

/** An organization that may call: everything a call of it needs. */
export interface CallingOrganization {
  readonly organizationId: string
  readonly agentId: string
  readonly contactId: string
  readonly phoneNumber: string
}

const insertOrganization = sql(
  'queue-fixtures.insertOrganization',
  `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy)
   values ($1, 'Test', '2026-07-16', true, $2, $3)`,
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

/** With one agent and one contact; open at all hours unless a policy says otherwise. */
export const createCallingOrganization = (
  db: Database,
  {
    concurrency = 10,
    policy = sandboxPolicy,
    phoneNumber = '+12025550100',
  }: { concurrency?: number; policy?: CallingPolicy; phoneNumber?: string } = {},
): Promise<CallingOrganization> =>
  db.transaction(async (tx) => {
    const [organizationId, agentId, contactId] = [newId(), newId(), newId()]
    const definition = JSON.stringify({ max_duration_seconds: 600 })
    await Promise.all([
      tx.run(insertOrganization, [
        organizationId,
        concurrency,
        JSON.stringify(policyToJson(policy)),
      ]),
      tx.run(insertAgent, [organizationId, agentId]),
      tx.run(insertAgentVersion, [organizationId, agentId, definition]),
      tx.run(insertContact, [organizationId, contactId, phoneNumber]),
    ])
    return { organizationId, agentId, contactId, phoneNumber }
  })

/** The lane of an organization's immediate calls to its own zone. */
export const immediateLane = (organizationId: string): Lane => ({
  organizationId,
  kind: 'immediate',
  sourceId: organizationId,
  timeZones: undefined,
})

/** A batch's lane; `sourceId` is the batch. */
export const batchLane = (organizationId: string, sourceId: string): Lane => ({
  organizationId,
  kind: 'batch',
  sourceId,
  timeZones: undefined,
})

/** Queues `count` calls, due now, in a lane that is open. */
export const queueCalls = async (
  db: Database,
  organization: CallingOrganization,
  count: number,
  lane: Lane = immediateLane(organization.organizationId),
): Promise<CallRow[]> => {
  const rows = await db.transaction(async (tx) => {
    await ensureLane(tx, lane)
    return Promise.all(
      Array.from({ length: count }, () =>
        insertCall(tx, organization.organizationId, {
          ...organization,
          id: newId(),
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

/** Any statement, for what a test wants to look at or to break. */
export const execute = <Row extends object>(
  db: Queryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> =>
  db.rows<Row>(
    sql(`test.${createHash('sha256').update(text).digest('hex').slice(0, 32)}`, text),
    values,
  )
