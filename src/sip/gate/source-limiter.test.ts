import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { createSourceLimiter } from './source-limiter.ts'

test('each address has its own rate, which refills with time', () => {
  const clock = createManualTime(new Date(0))
  const limiter = createSourceLimiter(2, clock)
  const admitted = (address: string): boolean => limiter.admits(address)
  assert.deepEqual(
    [1, 2, 3].map(() => admitted('192.0.2.1')),
    [true, true, false],
  )
  assert.ok(admitted('192.0.2.2'))
  clock.advance(500)
  assert.deepEqual(
    [1, 2].map(() => admitted('192.0.2.1')),
    [true, false],
  )
  clock.advance(60_000)
  assert.deepEqual(
    [1, 2, 3].map(() => admitted('192.0.2.1')),
    [true, true, false],
  )
})

test('a flood of forged addresses keeps memory bounded and does not free a busy address', () => {
  const clock = createManualTime(new Date(0))
  const limiter = createSourceLimiter(1, clock)
  assert.ok(limiter.admits('192.0.2.1'))
  for (let made = 0; made < 12_000; made += 1) {
    limiter.admits(`10.0.${made >> 8}.${made & 255}`)
    assert.ok(!limiter.admits('192.0.2.1'))
  }
})
