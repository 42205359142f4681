import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { ApiError } from '../../contract/api-error.ts'
import { BodyPlaces, type BodyPlace } from './body-places.ts'

const limits = {
  places: 4,
  ofOrganization: 2,
  waiting: 4,
  waitingOfOrganization: 3,
  maxWaitMs: 60_000,
  checkMs: 60_000,
}
const requestOf = (): IncomingMessage => ({ complete: false }) as IncomingMessage
const never = (): void => assert.fail('a body was cut')
const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 429 && error.retryAfterSeconds === 1

test('an organization has half of the places, and its next body waits for one of them', async () => {
  const places = new BodyPlaces(10, limits)
  const [first, second, third, other] = [requestOf(), requestOf(), requestOf(), requestOf()]
  assert.ok(!(places.take(first, 'a', never) instanceof Promise))
  assert.ok(!(places.take(second, 'a', never) instanceof Promise))
  const waiting = places.take(third, 'a', never)
  assert.ok(waiting instanceof Promise)
  assert.ok(!(places.take(other, 'b', never) instanceof Promise))
  places.release(first)
  assert.equal((await waiting).filled, 0)
  for (const request of [second, third, other]) places.release(request)
})

test('a free place goes to the organization with the fewest', async () => {
  const places = new BodyPlaces(10, limits)
  const held = ['a', 'a', 'b', 'b'].map((organization) => {
    const request = requestOf()
    void places.take(request, organization, never)
    return request
  })
  const given: string[] = []
  const waiters = ['a', 'a', 'c'].map((organization) => {
    const request = requestOf()
    const taking = places.take(request, organization, never) as Promise<BodyPlace>
    return { request, taken: taking.then(() => given.push(organization)) }
  })
  for (const request of held) places.release(request)
  await Promise.all(waiters.map(({ taken }) => taken))
  assert.deepEqual(given, ['c', 'a', 'a'])
})

test('beyond the places and the allowed waiters, a body is refused with 429', async () => {
  const places = new BodyPlaces(10, limits)
  const taken = Array.from({ length: 5 }, () => {
    const request = requestOf()
    return { request, taking: places.take(request, 'a', never) }
  })
  await assert.rejects(async () => places.take(requestOf(), 'a', never), isRefused)
  // Others still may.
  assert.ok(!(places.take(requestOf(), 'b', never) instanceof Promise))
  for (const { request } of taken) places.release(request)
})

test('a waiter over its time limit is refused with 429', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const places = new BodyPlaces(10, limits)
  void places.take(requestOf(), 'a', never)
  void places.take(requestOf(), 'a', never)
  const waiting = Promise.resolve(places.take(requestOf(), 'a', never))
  const refused = assert.rejects(waiting, isRefused)
  t.mock.timers.tick(limits.maxWaitMs)
  await refused
})

test('a stalled body loses its place to a waiting one, a moving one does not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const places = new BodyPlaces(1_000_000, { ...limits, checkMs: 1_000 })
  const refusals: ApiError[] = []
  const moving = places.take(requestOf(), 'a', never) as BodyPlace
  void places.take(requestOf(), 'a', (error) => refusals.push(error))
  // Of another organization, and nobody waits for its places.
  void places.take(requestOf(), 'b', never)
  const waiting = places.take(requestOf(), 'a', never)
  t.mock.timers.tick(1_000)
  moving.filled += 500_000
  t.mock.timers.tick(1_000)
  await waiting
  assert.deepEqual(refusals.map(isRefused), [true])
})

test('places are reused, so that bodies make no garbage', () => {
  const places = new BodyPlaces(10, limits)
  const request = requestOf()
  const first = places.take(request, 'a', never) as BodyPlace
  first.filled = 7
  places.release(request)
  const second = places.take(request, 'a', never) as BodyPlace
  assert.equal(second.buffer, first.buffer)
  assert.equal(second.filled, 0)
})
