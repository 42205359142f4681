import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { ApiError } from '../../src/contract/api-error.ts'
import type { Call } from '../../src/contract/calls.ts'
import { operations } from '../../src/contract/operations.ts'
import { sql, type Transaction } from '../../src/database/database.ts'
import { purgeExpiredClaims } from '../../src/http/idempotency-claims.ts'
import { newOrganizationId } from '../../src/domains/organizations/organization-id.ts'
import { newId } from '../../src/runtime/ids.ts'
import { aCall } from '../support/response-table.ts'
import { startApiFixture, type ApiFixture, type FixtureHandlers } from '../support/api-fixture.ts'
import { until } from '../support/until.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

let database: TestDatabase
let api: ApiFixture
let key: string
/** What the handler does between its effect and its response. */
let meanwhile: () => Promise<void>

/** A handler with one row of effect: the agent's name. Each success creates another call. */
const placeCall: FixtureHandlers['placeCall'] = async ({ body }, { db }) => {
  await leaveEffect(db, body.agent_id)
  await meanwhile()
  return { ...queuedCall, id: newId() }
}

const cancelCall: FixtureHandlers['cancelCall'] = async ({ params }, { db }) => {
  await leaveEffect(db, params.call_id)
  return { ...queuedCall, id: params.call_id }
}

// The documented example is a Call; a contract test ensures that.
const queuedCall = operations.placeCall.example as Call

const leaveEffect = (db: Transaction, name: string): Promise<number> =>
  db.run(sql('test.effect', 'insert into effects (name) values ($1)'), [name])

before(async () => {
  database = await createTestDatabase()
  await database.db.run(sql('test.create', 'create table effects (name text not null)'), [])
  api = await startApiFixture({ database: database.db, handlers: { placeCall, cancelCall } })
  key = api.makeKey()
})
after(async () => {
  await api.stop()
  await database.drop()
})
beforeEach(() => {
  meanwhile = async () => {}
})

const effects = async (name: string): Promise<number> => {
  const counting = sql('test.count', 'select count(*)::int as n from effects where name = $1')
  return (await database.db.row<{ n: number }>(counting, [name]))?.n ?? 0
}

interface PostOptions {
  readonly path?: string
  readonly secret?: string
  readonly headers?: Record<string, string>
}

const post = async (idempotencyKey: string, body: unknown, options: PostOptions = {}) => {
  const response = await fetch(api.url + (options.path ?? '/calls'), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${options.secret ?? key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
      ...options.headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return {
    status: response.status,
    header: (name: string) => response.headers.get(name),
    body: JSON.parse(await response.text()),
  }
}

const callBody = (agent: string) => ({ agent_id: agent, contact_id: 'c' })

test('a repeated request gets the stored response and has one effect', async () => {
  const body = callBody('replayed')
  const first = await post('replayed', body)
  const second = await post('replayed', body)
  assert.equal(first.status, 202)
  assert.equal(first.header('idempotent-replayed'), null)
  assert.equal(second.status, 202)
  assert.deepEqual(second.body, first.body)
  assert.equal(second.header('location'), first.header('location'))
  assert.equal(second.header('location'), `/calls/${first.body.id}`)
  assert.equal(second.header('idempotent-replayed'), 'true')
  assert.notEqual(second.header('x-request-id'), first.header('x-request-id'))
  assert.equal(await effects('replayed'), 1)
})

test('white space, member order, defaults, trimming and an explicit version make no difference', async () => {
  const first = await post(
    'same',
    '{"agent_id":"same","recipient":{"external_id":"e","name":"n","phone_number":"+12025550100"}}',
  )
  const second = await post(
    'same',
    `{ "recipient": {"phone_number":"+12025550100","source":"public_api","name":" n ","external_id":"e"},
       "agent_id": "\\u0073ame" }`,
    { headers: { 'service-version': '2026-07-16' } },
  )
  assert.equal(second.header('idempotent-replayed'), 'true')
  assert.deepEqual(second.body, first.body)
})

test('another body, path or operation under the key is a conflict and has no effect', async () => {
  await post('taken', callBody('taken'))
  const others = [
    await post('taken', callBody('other')),
    await post('taken', {}, { path: `${aCall}/cancel` }),
  ]
  for (const { status, body } of others) {
    assert.equal(status, 409)
    assert.equal(body.error.code, 'idempotency_conflict')
  }
  assert.equal(await effects('other'), 0)
  assert.equal(await effects(aCall.split('/')[2] ?? ''), 0)
})

test('keys belong to the organization: another API key replays, another organization does not', async () => {
  const first = await post('shared', callBody('shared'))
  const rotated = await post('shared', callBody('shared'), { secret: api.makeKey() })
  assert.deepEqual(rotated.body, first.body)
  const stranger = api.makeKey({ organizationId: newOrganizationId() })
  const other = await post('shared', callBody('shared'), { secret: stranger })
  assert.equal(other.header('idempotent-replayed'), null)
  assert.notEqual(other.body.id, first.body.id)
})

test('a replay checks the scope again', async () => {
  await post('scoped', callBody('scoped'))
  const reader = api.makeKey({ scopes: ['calls:read'] })
  assert.equal((await post('scoped', callBody('scoped'), { secret: reader })).status, 403)
})

test('while the first runs, others get their error at once without waiting', async () => {
  const { promise: inside, resolve: arrived } = Promise.withResolvers<void>()
  const { promise: release, resolve: go } = Promise.withResolvers<void>()
  meanwhile = () => {
    arrived()
    return release
  }
  const running = post('busy', callBody('busy'))
  await inside
  const others = await Promise.all(Array.from({ length: 5 }, () => post('busy', callBody('busy'))))
  for (const { status, body, header } of others) {
    assert.equal(status, 409)
    assert.equal(body.error.code, 'idempotency_in_progress')
    assert.equal(header('retry-after'), '1')
  }
  go()
  assert.equal((await running).status, 202)
  assert.equal((await post('busy', callBody('busy'))).header('idempotent-replayed'), 'true')
  assert.equal(await effects('busy'), 1)
})

test('200 racing requests over 20 keys leave one effect and one response for each key', async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      const name = `race-${at % 20}`
      return { name, ...(await post(name, callBody(name))) }
    }),
  )
  const ids = new Map<string, Set<string>>()
  for (const { name, status, body } of answers) {
    if (status === 409) assert.equal(body.error.code, 'idempotency_in_progress')
    else assert.equal(status, 202)
    if (status === 202) ids.set(name, (ids.get(name) ?? new Set()).add(body.id))
  }
  assert.equal(ids.size, 20)
  for (const [name, told] of ids) {
    assert.equal(told.size, 1)
    assert.equal(await effects(name), 1)
  }
})

test('only a success is stored: a refused request frees its key and leaves no trace', async () => {
  meanwhile = async () => {
    throw new ApiError('resource_state_conflict', 'Not now.')
  }
  assert.equal((await post('refused', callBody('refused'))).status, 409)
  meanwhile = async () => {
    throw new Error('a fault')
  }
  assert.equal((await post('refused', callBody('refused'))).status, 500)
  meanwhile = async () => {}
  const third = await post('refused', callBody('another body'))
  assert.equal(third.status, 202)
  assert.equal(third.header('idempotent-replayed'), null)
  assert.equal(await effects('refused'), 0)
})

test('a key is free again 24 hours after its request was accepted', async () => {
  const first = await post('aged', callBody('aged'))
  const age = (interval: string) =>
    database.db.run(
      sql(
        `test.age ${interval}`,
        `update idempotency_claims set created_at = now() - interval '${interval}' where key = 'aged'`,
      ),
      [],
    )
  await age('23 hours 59 minutes')
  assert.deepEqual((await post('aged', callBody('aged'))).body, first.body)
  await age('24 hours')
  const [one, two] = await Promise.all([
    post('aged', callBody('new')),
    post('aged', callBody('new')),
  ])
  const fresh = [one, two].filter(({ header }) => header('idempotent-replayed') === null)
  assert.equal(fresh.filter(({ status }) => status === 202).length, 1)
  assert.equal(await effects('new'), 1)
})

test('expired claims are purged, at most as many as requested, and younger ones stay', async () => {
  for (const name of ['old-1', 'old-2', 'young']) await post(name, callBody(name))
  await database.db.run(
    sql(
      'test.age-old',
      "update idempotency_claims set created_at = now() - interval '25 hours' where key like 'old-%'",
    ),
    [],
  )
  assert.equal(await purgeExpiredClaims(database.db, 1), 1)
  assert.equal(await purgeExpiredClaims(database.db, 10), 1)
  assert.equal(await purgeExpiredClaims(database.db, 10), 0)
  assert.equal((await post('young', callBody('young'))).header('idempotent-replayed'), 'true')
})

test('an optional key makes an action replayable; without one it runs each time', async () => {
  const id = newId()
  const path = `/calls/${id}/cancel`
  await post('optional', {}, { path })
  const replayed = await post(
    'optional',
    {},
    { path: path.toUpperCase().replace('/CALLS', '/calls').replace('CANCEL', 'cancel') },
  )
  assert.equal(replayed.header('idempotent-replayed'), 'true')
  assert.equal(replayed.header('location'), null)
  assert.equal(await effects(id), 1)
})

test('a busy table is not mistaken for a running request', async () => {
  const locked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const locking = database.db.transaction(async (tx) => {
    await tx.run(sql('test.lock', 'lock table idempotency_claims in share row exclusive mode'), [])
    locked.resolve()
    await released.promise
  })
  await locked.promise
  const asked = post('busy-table', callBody('busy-table'))
  const waiting = sql(
    'test.waiting',
    `select 1 as found from pg_locks
      where relation = 'idempotency_claims'::regclass and not granted`,
  )
  await until('the claim to wait', () => database.db.row(waiting, []), { everyMs: 1 })
  released.resolve()
  await locking
  assert.equal((await asked).status, 202)
})
