import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startApiFixture, type ApiFixture } from '../../../tests/support/api-fixture.ts'
import { assertResponse, bytesOf, get, refused } from '../../../tests/support/response-table.ts'
import { sendRaw } from '../../../tests/support/raw-http.ts'
import { makeApiKey } from './api-key-format.ts'
import type { FoundKey } from './principal-store.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'

const now = new Date('2026-08-01T00:00:00Z')
const clock = createManualTime(now)
const lookedUp: string[] = []
let api: ApiFixture
let key: string

before(async () => {
  api = await startApiFixture({ clock })
  key = api.makeKey()
})
after(() => api.stop())

const answerTo = async (authorization: string | readonly string[], path = '/agents') => {
  const bytes = bytesOf(get(path, { authorization }), '')
  const [response] = await sendRaw(api.port, bytes)
  return response
}

const missing = refused('authentication_required', { 'www-authenticate': 'Bearer' })
const invalidKey = refused('invalid_api_key', { 'www-authenticate': 'Bearer' })

test('anything but one Bearer header with one space and a key is authentication_required', async () => {
  const malformed: readonly (string | readonly string[])[] = [
    [],
    '',
    'Bearer',
    `bearer ${key}`,
    `BEARER ${key}`,
    `Bearer  ${key}`,
    `Bearer\t${key}`,
    `Bearer ${key} x`,
    `Bearer ${key},`,
    `Bearer ${key} ,`,
    `Bearer "${key}"`,
    `Bearer ${key};q=1`,
    `Basic ${key}`,
    key,
    [`Bearer ${key}`, `Bearer ${key}`],
    `Bearer ${'x'.repeat(513)}`,
    'Bearer é',
  ]
  for (const authorization of malformed) assertResponse(await answerTo(authorization), missing)
})

test('an unknown key, or one with another prefix, length or checksum, is invalid_api_key', async () => {
  const unknown = makeApiKey().secret
  const mistyped = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
  for (const text of [unknown, mistyped, 'x', key.replace('live', 'test'), `${key}a`, key.slice(1)])
    assertResponse(await answerTo(`Bearer ${text}`), invalidKey)
})

test('a wrong checksum costs no look-up', async () => {
  const watched = await startApiFixture({
    findPrincipal: async (hash) => {
      lookedUp.push(hash.toString('hex'))
      return undefined
    },
  })
  const { secret } = makeApiKey()
  for (const text of [`${secret.slice(0, -1)}-`, secret])
    await fetch(`${watched.url}/agents`, { headers: { authorization: `Bearer ${text}` } })
  await watched.stop()
  assert.equal(lookedUp.length, 1)
})

test('a revoked key is invalid, one at its expiry expired, and revoked takes precedence over expired', async () => {
  const answerFor = (principal: Partial<FoundKey>) => answerTo(`Bearer ${api.makeKey(principal)}`)
  const before1Ms = new Date(now.getTime() + 1)
  assert.equal((await answerFor({ expiresAt: before1Ms }))?.status, 200)
  const expired = refused('api_key_expired', { 'www-authenticate': 'Bearer' })
  assertResponse(await answerFor({ expiresAt: now }), expired)
  assertResponse(await answerFor({ revokedAt: now }), invalidKey)
  assertResponse(await answerFor({ revokedAt: now, expiresAt: now }), invalidKey)
})

test('a disabled organization learns nothing of paths', async () => {
  const disabled = `Bearer ${api.makeKey({ publicApiEnabled: false })}`
  for (const path of ['/agents', '/nowhere'])
    assertResponse(await answerTo(disabled, path), refused('organization_not_enabled'))
})

test('only a valid key learns that a path is unknown', async () => {
  assertResponse(await answerTo([], '/nowhere'), missing)
  assertResponse(await answerTo(`Bearer ${key}`, '/nowhere'), refused('resource_not_found'))
})

test('a key without the scope learns the scope’s name; either of two suffices', async () => {
  const none = `Bearer ${api.makeKey({ scopes: ['calls:write'] })}`
  const answer = await answerTo(none, '/calls')
  assertResponse(answer, refused('insufficient_scope'))
  assert.match(answer?.body ?? '', /calls:read/)
  for (const scope of ['calls:read', 'batches:read'] as const) {
    const one = `Bearer ${api.makeKey({ scopes: [scope] })}`
    assert.equal((await answerTo(one))?.status, 200)
  }
})

test('strangers are slowed down per address, and a valid key from there never is', async () => {
  const guarded = await startApiFixture({ anonymousLimit: 3 })
  const valid = guarded.makeKey()
  const statusOf = async (authorization: string) =>
    (await fetch(`${guarded.url}/agents`, { headers: { authorization } })).status
  const statuses: number[] = []
  for (let tries = 0; tries < 5; tries += 1) statuses.push(await statusOf('Bearer x'))
  assert.deepEqual(statuses, [401, 401, 401, 429, 429])
  assert.equal(await statusOf(`Bearer ${valid}`), 200)
  await guarded.stop()
})
