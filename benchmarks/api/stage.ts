import type pg from 'pg'
import type { RateLimits } from '../../src/contract/buckets.ts'
import { createAgent } from '../../src/domains/agents/create-agent.ts'
import { createApiKey } from '../../src/domains/api-keys/create-api-key.ts'
import { createOrganization } from '../../src/domains/organizations/create-organization.ts'
import { setOrganization } from '../../src/domains/organizations/set-organization.ts'
import { sql, type Database, type Transaction } from '../../src/database/database.ts'
import { placeCall } from '../../src/domains/calls/place-call.ts'
import {
  contactBody,
  contextOf,
  minimalAgentFile,
} from '../../tests/support/organization-fixture.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'

/** The rows that all candidates use, as JSON. */
export interface Stage {
  readonly connection: pg.ClientConfig
  readonly organizationId: OrganizationId
  readonly key: string
  readonly agentId: string
  readonly laneId: string
  readonly contactIds: readonly string[]
  readonly callIds: readonly string[]
  readonly rateLimits: RateLimits
}

const contacts = 1000
const many = 10_000_000
const rateLimits = { read: many, write: many, execution: many, transcript: many, recording: many }

/** An organization with an agent, a key without limits, and a thousand contacts with a queued call each. */
export const setStage = async (connection: pg.ClientConfig, db: Database): Promise<Stage> => {
  const { id: organizationId } = await createOrganization(db, { name: 'Benchmark' })
  await db.transaction((tx) => setOrganization(tx, organizationId, { rateLimits }))
  const { id: agentId } = await createAgent(db, organizationId, minimalAgentFile)
  const { secret } = await createApiKey(db, { organizationId, name: 'bench', scopes: 'all' })
  const calls: { id: string; contact_id: string }[] = []
  for (let at = 0; at < contacts; at += 1) {
    const phoneNumber = `+1202555${String(at).padStart(4, '0')}`
    const recipient = contactBody({ external_id: `c-${at}`, phone_number: phoneNumber })
    const input = { params: {}, query: {}, body: { agent_id: agentId, recipient } }
    const work = (tx: Transaction) => placeCall(input, contextOf(tx, organizationId))
    calls.push(await db.transaction(work))
  }
  const lane = await db.row<{ id: string }>(
    sql('bench.lane', 'select id from lanes where organization_id = $1 limit 1'),
    [organizationId],
  )
  await db.run(sql('bench.analyze', 'analyze'), [])
  return {
    connection,
    organizationId,
    key: secret,
    agentId,
    laneId: lane?.id ?? '',
    contactIds: calls.map((call) => call.contact_id),
    callIds: calls.map((call) => call.id),
    rateLimits,
  }
}
