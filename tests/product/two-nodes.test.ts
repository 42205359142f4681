// Runs beside others: it waits for most of its 10 s.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/database.ts'
import { createApiClient } from '../support/api-client.ts'
import {
  askOutdial,
  createInstallation,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { sandboxOrganization } from '../support/sandbox-tenant.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { until } from '../support/until.ts'

/** Two programs over one database, as two machines would run them. */

let database: TestDatabase
let installations: Awaited<ReturnType<typeof createInstallation>>[]
let nodes: OutdialProcess[]
let org: string

before(async () => {
  database = await createTestDatabase()
  const { host, port, user, database: name } = database.connection
  const url = `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host ?? '')}&port=${port}`
  const settings = { DATABASE_URL: url }
  installations = [await createInstallation(settings), await createInstallation(settings)]
  nodes = []
  for (const { env } of installations) nodes.push(await startOutdial(env))
  org = await sandboxOrganization(env())
})
after(async () => {
  for (const status of await Promise.all(nodes.map((node) => node.stop()))) assert.equal(status, 0)
  for (const installation of installations) installation.remove()
  await database.drop()
})

const env = () => installations[0]?.env ?? {}

const createKey = (...options: string[]) =>
  askOutdial<{ id: string; secret: string }>(
    env(),
    ...`key create --org ${org} --name test --scopes all`.split(' '),
    ...options,
  )

test('a revoked key is refused by every node within 1 s, even without a notification (D12)', async () => {
  const key = await createKey()
  const clients = nodes.map((node) => createApiClient(node.apiUrl, key.secret))
  for (const client of clients) assert.equal((await client.get('/agents')).status, 200)
  // Written directly: no notification is sent, as if every LISTEN were dead.
  const revoke = sql('test.revoke', 'update api_keys set revoked_at = now() where id = $1')
  const startedMs = performance.now()
  assert.equal(await database.db.run(revoke, [key.id]), 1)
  const committedMs = performance.now()
  // However slow the machine is, later requests must have been refused.
  const acceptedUntilMs = await Promise.all(
    clients.map(async (client) => {
      let acceptedMs = 0
      await until(
        'the key to be refused',
        async () => {
          const askedMs = performance.now() - committedMs
          const { status } = await client.get('/agents')
          if (status === 401) return true
          acceptedMs = askedMs
          return undefined
        },
        { everyMs: 20 },
      )
      return acceptedMs
    }),
  )
  for (const ms of acceptedUntilMs) assert.ok(ms <= 1_000 + committedMs - startedMs, `${ms} ms`)
})

test('nodes share one allowance: together they never accept more (D11)', async () => {
  const limit = 40
  await askOutdial(env(), 'org', 'set', org, '--rate', `recording=${limit}`)
  const key = await createKey()
  const clients = nodes.map((node) => createApiClient(node.apiUrl, key.secret))
  const ask = async () => {
    const answers = await Promise.all(clients.map((client) => client.get('/recordings')))
    return answers.map((answer) => ({
      status: answer.status,
      limit: answer.headers.get('ratelimit-limit'),
      remaining: Number(answer.headers.get('ratelimit-remaining')),
      retryAfter: Number(answer.headers.get('retry-after')),
    }))
  }
  const answers = await until('the new limit to be known', async () => {
    const first = await ask()
    return first.every((answer) => answer.limit === String(limit)) ? first : undefined
  })
  while (answers.length < 2 * limit) answers.push(...(await ask()))
  const accepted = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status === 429)
  assert.equal(accepted.length + refused.length, answers.length)
  assert.ok(accepted.length <= limit, `${accepted.length} accepted`)
  assert.ok(accepted.length >= limit / 2, `${accepted.length} accepted`)
  assert.equal(new Set(accepted.map(({ remaining }) => remaining)).size, accepted.length)
  for (const { retryAfter } of refused) assert.ok(retryAfter >= 1 && retryAfter <= 60)
})
