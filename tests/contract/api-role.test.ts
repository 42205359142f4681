import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiRole } from '../../src/compose/api.ts'
import type { Operation } from '../../src/contract/define-operation.ts'
import { operations } from '../../src/contract/operations.ts'
import { createAgent } from '../../src/domains/agents/create-agent.ts'
import { createApiKey } from '../../src/domains/api-keys/create-api-key.ts'
import { createOrganization } from '../../src/domains/organizations/create-organization.ts'
import { setOrganization } from '../../src/domains/organizations/set-organization.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import type { Service } from '../../src/runtime/service.ts'
import { fuzzApi } from '../fuzz/api-fuzz.ts'
import { createApiClient, type ApiClient } from '../support/api-client.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

let database: TestDatabase
let role: Service & { readonly port: number }
let url: string

before(async () => {
  database = await createTestDatabase()
  role = await createApiRole({
    database: database.db,
    host: '127.0.0.1',
    port: 0,
    publicUrl: 'http://api.test',
    onCallEnded: async () => {},
    downloadUrls: {
      signDownloadUrl: (id) => `http://media.test/recordings/${id}`,
      clock: systemClock,
    },
    isDraining: () => false,
    readiness: async () => ({ isReady: true, checks: {} }),
    clock: systemClock,
    logger: silentLogger,
  })
  await role.start()
  url = `http://127.0.0.1:${role.port}`
})
after(async () => {
  await role.stop()
  await database.drop()
})

const many = 1_000_000
const unlimited = { read: many, write: many, execution: many, transcript: many, recording: many }

/** An organization with a key that may do everything as often as it likes, an agent and a queued call. */
const createTenant = async (name: string) => {
  const { db } = database
  const { id } = await createOrganization(db, { name })
  await db.transaction((tx) => setOrganization(tx, db.hint, id, { rateLimits: unlimited }))
  const { secret } = await createApiKey(db, { organizationId: id, name: 'all', scopes: 'all' })
  const file = { name: 'Agent', greeting: 'Hello.', prompt: 'Be kind.', voicemail: 'hang_up' }
  const agent = await createAgent(db, id, file)
  const client = createApiClient(url, secret)
  const recipient = { external_id: 'one', name: 'One', phone_number: '+12025550100' }
  const placed = await client.post('/calls', { agent_id: agent.id, recipient })
  assert.equal(placed.status, 202)
  const ids: Record<string, string> = {
    agent_id: agent.id,
    call_id: String(placed.body['id']),
    contact_id: String(placed.body['contact_id']),
    recording_id: String(placed.body['id']),
  }
  return { secret, client, ids }
}

const askEverything = (client: ApiClient, ids: Readonly<Record<string, string>>) =>
  Object.entries<Operation>(operations)
    .filter(([, { path }]) => path.includes('{'))
    .map(async ([name, { method, path }]) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? '')
      const { status } = await (method === 'GET' ? client.get(filled) : client.post(filled, {}))
      return { name, status }
    })

test('no operation reaches another organization’s resources, by path or by body', async () => {
  const [one, other] = [await createTenant('One'), await createTenant('Other')]
  const own = await Promise.all(askEverything(one.client, one.ids))
  const reached = own.filter(({ status }) => status === 200).map(({ name }) => name)
  assert.ok(reached.includes('getCall') && reached.includes('getContact'))
  for (const { name, status } of await Promise.all(askEverything(other.client, one.ids)))
    assert.equal(status, 404, name)
  for (const body of [
    { agent_id: one.ids['agent_id'], contact_id: other.ids['contact_id'] },
    { agent_id: other.ids['agent_id'], contact_id: one.ids['contact_id'] },
  ])
    assert.equal((await other.client.post('/calls', body)).status, 404)
})

test('2,000 hostile requests to the real handlers get no 5xx, and every answer is as described', async () => {
  const { secret } = await createTenant('Fuzzed')
  const { statuses, faults } = await fuzzApi({ url, key: secret, requests: 2000, seed: 23 })
  assert.deepEqual(faults, [])
  for (const status of [200, 201, 202, 400, 401, 404, 405, 409])
    assert.ok(statuses.has(status), `${status}`)
})
