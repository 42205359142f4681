import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualTime } from '../../tests/support/manual-time.ts'
import { rarely } from './readiness.ts'

test('readiness is checked once a second, one check at a time, for any number of requests', async () => {
  const clock = createManualTime(new Date('2026-08-01T00:00:00Z'))
  let looks = 0
  let end = Promise.withResolvers<void>()
  const ask = rarely(async () => {
    looks += 1
    await end.promise
    return { isReady: true, checks: { look: String(looks) } }
  }, clock)
  const first = Array.from({ length: 400 }, ask)
  // However slow the check is, no second one begins beside it.
  clock.advance(5_000)
  first.push(ask())
  end.resolve()
  for (const told of await Promise.all(first)) assert.equal(told.checks['look'], '1')
  // The first result is as old as its beginning.
  assert.equal((await ask()).checks['look'], '2')
  clock.advance(999)
  assert.equal((await ask()).checks['look'], '2')
  clock.advance(1)
  assert.equal((await ask()).checks['look'], '3')
  clock.advance(1_000)
  end = Promise.withResolvers()
  const failing = ask()
  end.reject(new Error('no database'))
  await assert.rejects(failing, /no database/)
  await assert.rejects(ask(), /no database/)
  clock.advance(1_000)
  end = Promise.withResolvers()
  end.resolve()
  assert.equal(looks, 4)
  assert.equal((await ask()).isReady, true)
})

test('a node that was not ready is checked again soon, so that the end of a start is noticed at once', async () => {
  const clock = createManualTime(new Date('2026-08-01T00:00:00Z'))
  let isReady = false
  const ask = rarely(() => Promise.resolve({ isReady, checks: {} }), clock)
  assert.equal((await ask()).isReady, false)
  isReady = true
  clock.advance(49)
  assert.equal((await ask()).isReady, false)
  clock.advance(1)
  assert.equal((await ask()).isReady, true)
  isReady = false
  clock.advance(999)
  assert.equal((await ask()).isReady, true)
})
