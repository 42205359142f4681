import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fc } from '../../../tests/support/properties.ts'
import { pacingOf } from './pacing.ts'

/** Dials as fast as the bucket allows, polling every few milliseconds; returns when each left. */
const dialGreedily = (callsPerSecond: number, looksMs: readonly number[]): number[] => {
  const { burst, refillPerSecond } = pacingOf(callsPerSecond)
  const dialsMs: number[] = []
  let tokens = burst
  let nowMs = 0
  for (const lookMs of looksMs) {
    nowMs += lookMs
    tokens = Math.min(burst, tokens + (refillPerSecond * lookMs) / 1000)
    for (; tokens >= 1; tokens -= 1) dialsMs.push(nowMs)
  }
  return dialsMs
}

const busiestSecond = (dialsMs: readonly number[]): number =>
  Math.max(
    ...dialsMs.map((fromMs) => dialsMs.filter((ms) => ms >= fromMs && ms < fromMs + 1000).length),
  )

it('no second has more calls than the trunk allows, wherever it begins', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 120 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 50, maxLength: 120 }),
      (callsPerSecond, looksMs) => {
        const busiest = busiestSecond(dialGreedily(callsPerSecond, looksMs))
        assert.ok(busiest <= callsPerSecond, `${busiest} calls at ${callsPerSecond} per second`)
      },
    ),
    { numRuns: 300, seed: 1 },
  )
})

it('at least four fifths of the trunk’s allowance are used', () => {
  for (const callsPerSecond of [1, 2, 10, 50, 200, 1000]) {
    const dials = dialGreedily(
      callsPerSecond,
      Array.from({ length: 20_000 }, () => 1),
    ).length
    assert.ok(dials >= 20 * callsPerSecond * 0.8, `${dials} in 20 s at ${callsPerSecond}`)
  }
})
