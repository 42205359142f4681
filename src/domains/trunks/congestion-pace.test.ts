import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { paceAfterCongestion, paceAfterRise } from './congestion-pace.ts'

const anyPace = fc
  .record({
    fullPerSecond: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
    share: fc.double({ min: 0.001, max: 0.999, noNaN: true }),
    isPaced: fc.boolean(),
  })
  .map(({ fullPerSecond, share, isPaced }) => ({
    fullPerSecond,
    pacedPerSecond: isPaced ? fullPerSecond * share : undefined,
  }))

describe('the pace of a trunk whose carrier is congested', () => {
  it('halves at a refusal, and never stops', () => {
    assert.equal(paceAfterCongestion({ fullPerSecond: 40, pacedPerSecond: undefined }), 20)
    assert.equal(paceAfterCongestion({ fullPerSecond: 40, pacedPerSecond: 20 }), 10)
  })

  it('lets one call in five seconds ask a carrier that refuses all', () => {
    let pacedPerSecond: number | undefined
    for (let refusals = 0; refusals < 20; refusals += 1)
      pacedPerSecond = paceAfterCongestion({ fullPerSecond: 40, pacedPerSecond })
    assert.equal(pacedPerSecond, 0.2)
  })

  it('is never lowered by the slowest pace above what the administrator allows', () => {
    assert.equal(paceAfterCongestion({ fullPerSecond: 0.1, pacedPerSecond: undefined }), 0.1)
  })

  it('rises by a hundredth of the whole in a second, and is whole after 50 seconds from the half', () => {
    assert.equal(paceAfterRise({ fullPerSecond: 40, pacedPerSecond: 20 }, 1_000), 20.4)
    assert.equal(paceAfterRise({ fullPerSecond: 40, pacedPerSecond: 20 }, 50_000), undefined)
    assert.equal(paceAfterRise({ fullPerSecond: 40, pacedPerSecond: undefined }, 1_000), undefined)
  })

  it('stays between the slowest and the whole pace, whatever comes in whatever order', () => {
    fc.assert(
      fc.property(
        anyPace,
        fc.array(fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined })),
        (start, events) => {
          let pace = start
          for (const elapsedMs of events) {
            const pacedPerSecond =
              elapsedMs === undefined ? paceAfterCongestion(pace) : paceAfterRise(pace, elapsedMs)
            const before = pace.pacedPerSecond ?? pace.fullPerSecond
            const now = pacedPerSecond ?? pace.fullPerSecond
            assert.ok(now > 0 && now <= pace.fullPerSecond)
            if (elapsedMs === undefined) assert.ok(now <= Math.max(before, 0.2))
            else assert.ok(now >= before)
            pace = { ...pace, pacedPerSecond }
          }
        },
      ),
    )
  })

  it('rises no faster in many steps than in one', () => {
    fc.assert(
      fc.property(anyPace, fc.integer({ min: 0, max: 20_000 }), (pace, elapsedMs) => {
        const once = paceAfterRise(pace, 2 * elapsedMs) ?? pace.fullPerSecond
        const first = paceAfterRise(pace, elapsedMs)
        const twice = paceAfterRise({ ...pace, pacedPerSecond: first }, elapsedMs)
        assert.ok(Math.abs((twice ?? pace.fullPerSecond) - once) < 1e-9 * pace.fullPerSecond)
      }),
    )
  })
})
