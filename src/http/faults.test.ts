import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { startApiFixture } from '../../tests/support/api-fixture.ts'
import { ApiError } from '../contract/api-error.ts'
import type { Logger } from '../runtime/logger.ts'
import { silentLogger } from '../runtime/logger.ts'

const collecting = () => {
  const lines: { level: string; fields: object; message: string }[] = []
  const keep = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields, message })
  const logger: Logger = { ...silentLogger, warn: keep('warn'), error: keep('error') }
  return { lines, logger }
}

const responseOf = async (
  listAgents: () => Promise<never>,
  options: Parameters<typeof startApiFixture>[0] = {},
) => {
  const { lines, logger } = collecting()
  const api = await startApiFixture({ handlers: { listAgents }, logger, ...options })
  const response = await fetch(`${api.url}/agents`, {
    headers: { authorization: `Bearer ${api.makeKey()}` },
  })
  const body = JSON.parse(await response.text())
  await api.stop()
  return { response, body, lines }
}

test('a fault of ours is a 500 with only the request id for the client, and one log line', async () => {
  const { response, body, lines } = await responseOf(async () => {
    throw new Error('secret detail of the database')
  })
  assert.equal(response.status, 500)
  assert.equal(body.error.code, 'internal_error')
  assert.equal(body.error.request_id, response.headers.get('x-request-id'))
  assert.doesNotMatch(JSON.stringify(body), /secret/)
  assert.equal(lines.length, 1)
  assert.equal(lines[0]?.level, 'error')
})

test('a response that violates the contract is a fault where responses are checked', async () => {
  const { response } = await responseOf(async () => ({ data: [{ id: 1 }], next: null }) as never)
  assert.equal(response.status, 500)
})

test('an error for the client passes with its details and Retry-After', async () => {
  const { response, body } = await responseOf(async () => {
    throw new ApiError(
      'duplicate_active_run',
      'There is one.',
      { existing_run_id: 'r1' },
      { retryAfterSeconds: 2.5 },
    )
  })
  assert.equal(response.status, 409)
  assert.deepEqual(body.error.details, { existing_run_id: 'r1' })
  assert.equal(response.headers.get('retry-after'), '3')
})

test('a database in failover is a 503 with Retry-After, after a few tries', async () => {
  let tries = 0
  const { response, body } = await responseOf(async () => {
    tries += 1
    throw Object.assign(new pg.DatabaseError('read only', 0, 'error'), { code: '25006' })
  })
  assert.equal(response.status, 503)
  assert.equal(body.error.code, 'internal_error')
  assert.ok(Number(response.headers.get('retry-after')) >= 1)
  assert.equal(tries, 3)
})

test('a draining node responds as before, closes connections, stays healthy and is not ready', async () => {
  const api = await startApiFixture({ isDraining: () => true })
  const headers = { authorization: `Bearer ${api.makeKey()}` }
  const response = await fetch(`${api.url}/agents`, { headers })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('connection'), 'close')
  assert.equal((await fetch(`${api.url}/healthz`)).status, 200)
  assert.equal((await fetch(`${api.url}/readyz`)).status, 503)
  await api.stop()
})

test('health and readiness need no key and know GET and HEAD only', async () => {
  const checks = { database: 'no connection' }
  const api = await startApiFixture({ readiness: async () => ({ isReady: false, checks }) })
  const ready = await fetch(`${api.url}/readyz`)
  assert.equal(ready.status, 503)
  assert.deepEqual(await ready.json(), { status: 'not_ready', checks })
  assert.ok(ready.headers.get('x-request-id'))
  assert.equal((await fetch(`${api.url}/healthz`, { method: 'HEAD' })).status, 200)
  const posted = await fetch(`${api.url}/healthz`, { method: 'POST' })
  assert.equal(posted.status, 405)
  assert.equal(posted.headers.get('allow'), 'GET, HEAD')
  await api.stop()
})

test('a readiness check that fails is a 500 and one log line', async () => {
  const { lines, logger } = collecting()
  const api = await startApiFixture({
    logger,
    readiness: async () => {
      throw new Error('no')
    },
  })
  assert.equal((await fetch(`${api.url}/readyz`)).status, 500)
  assert.equal(lines.length, 1)
  await api.stop()
})

test('stop lets a running request end and takes no new one', async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: release, resolve: go } = Promise.withResolvers<void>()
  const api = await startApiFixture({
    handlers: {
      listAgents: async () => {
        ask()
        await release
        return { data: [], next: null }
      },
    },
  })
  const running = fetch(`${api.url}/agents`, {
    headers: { authorization: `Bearer ${api.makeKey()}` },
  })
  await asked
  const stopping = api.stop()
  await assert.rejects(fetch(`${api.url}/healthz`))
  go()
  assert.equal((await running).status, 200)
  await stopping
  await api.stop()
})
