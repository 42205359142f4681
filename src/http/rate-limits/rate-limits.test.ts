import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import { startApiFixture, type ApiFixture } from '../../../tests/support/api-fixture.ts'
import { buckets, defaultRateLimits } from '../../contract/buckets.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { createFixedWindows } from './fixed-windows.ts'

const clock = createManualTime(new Date('2026-08-01T00:00:00Z'))
let api: ApiFixture

before(async () => {
  api = await startApiFixture({ clock })
})
after(() => api.stop())

const limits = (limit: number) => ({ ...defaultRateLimits, read: limit })

const get = async (key: string, path = '/agents', headers: Record<string, string> = {}) => {
  const response = await fetch(api.url + path, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
  const header = (name: string) => response.headers.get(name)
  return {
    status: response.status,
    retryAfter: header('retry-after'),
    limit: header('ratelimit-limit'),
    remaining: header('ratelimit-remaining'),
    reset: header('ratelimit-reset'),
    policy: header('ratelimit-policy'),
  }
}

test('an allowance counts down, refuses with Retry-After, and opens anew after 60 seconds', async () => {
  const key = api.makeKey({ organizationId: newId() as OrganizationId, rateLimits: limits(2) })
  const policy = '"read";q=2;w=60'
  const told = { limit: '2', policy }
  assert.deepEqual(await get(key), {
    status: 200,
    retryAfter: null,
    ...told,
    remaining: '1',
    reset: '60',
  })
  clock.advance(58_900)
  assert.deepEqual(await get(key), {
    status: 200,
    retryAfter: null,
    ...told,
    remaining: '0',
    reset: '2',
  })
  clock.advance(1000)
  assert.deepEqual(await get(key), {
    status: 429,
    retryAfter: '1',
    ...told,
    remaining: '0',
    reset: '1',
  })
  clock.advance(100)
  assert.equal((await get(key)).status, 200)
})

test('refused requests are metered too', async () => {
  const key = api.makeKey({
    organizationId: newId() as OrganizationId,
    rateLimits: limits(3),
    scopes: [],
  })
  assert.equal((await get(key)).status, 403)
  assert.equal((await get(key, '/calls?limit=0')).status, 403)
  assert.equal((await get(key, '/agents', { 'service-version': 'x' })).status, 400)
  assert.equal((await get(key, '/agents')).status, 429)
})

test('the buckets of an organization are independent, and shared by its keys', async () => {
  const organization = { organizationId: newId() as OrganizationId, rateLimits: limits(1) }
  const [one, other] = [api.makeKey(organization), api.makeKey(organization)]
  assert.equal((await get(one)).status, 200)
  assert.equal((await get(other)).status, 429)
  assert.equal((await get(other, '/recordings')).status, 200)
  assert.equal(
    (await get(api.makeKey({ ...organization, organizationId: newId() as OrganizationId }))).status,
    200,
  )
})

test('a lower limit of the key is reported and costs the organization nothing once it refuses', async () => {
  const organization = { organizationId: newId() as OrganizationId, rateLimits: limits(3) }
  const limited = api.makeKey({ ...organization, keyRateLimits: { read: 1 } })
  assert.equal((await get(limited)).limit, '1')
  for (let tries = 0; tries < 5; tries += 1) assert.equal((await get(limited)).status, 429)
  assert.equal((await get(api.makeKey(organization))).remaining, '1')
})

test('every bucket has a default allowance', () => {
  assert.deepEqual(
    buckets.map((bucket) => defaultRateLimits[bucket]),
    [6000, 1500, 600, 1200, 1200],
  )
})

test('windows are bounded: the one that was opened first is forgotten', () => {
  const windows = createFixedWindows({ clock, windowSeconds: 60, maxKeys: 2 })
  assert.equal(windows.hit('a').count, 1)
  windows.hit('b')
  assert.equal(windows.hit('a').count, 2)
  windows.hit('c')
  assert.equal(windows.hit('b').count, 2)
  assert.equal(windows.hit('a').count, 1)
})

test('a window never reports more seconds than it lasts, whatever the clock’s fractions', () => {
  const started = createManualTime(new Date('2026-08-01T00:00:00Z'))
  const windows = createFixedWindows({ clock: started, windowSeconds: 60, maxKeys: 10 })
  for (let hour = 1; hour <= 1000; hour += 1) {
    started.advance(3_600_000.1)
    assert.equal(windows.hit('a').resetSeconds, 60)
  }
})
