import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualTime } from '../../tests/support/manual-time.ts'
import { createLatenessMeter } from './lateness.ts'
import { PhasedTicker, framePeriodMs, maxCatchUpFrames, phaseCount } from './ticker.ts'

const rethrow = (error: unknown): never => {
  throw error
}

/** A ticker whose timer and clock the test controls; the timer fires `latenessMs` late. */
const createManualTicker = () => {
  const clock = createManualTime(new Date(0))
  let timer: { callback: () => void; dueMs: number } | undefined
  const ticker = new PhasedTicker({
    time: {
      monotonicMs: clock.monotonicMs,
      after: (ms, callback) => {
        const mine = { callback, dueMs: clock.monotonicMs() + ms }
        timer = mine
        return () => {
          if (timer === mine) timer = undefined
        }
      },
    },
  })
  const fire = (): void => {
    const { callback } = timer!
    timer = undefined
    callback()
  }
  return {
    ticker,
    clock,
    get isArmed() {
      return timer !== undefined
    },
    run(ms: number, latenessMs = 0) {
      const end = clock.monotonicMs() + ms
      while (timer && timer.dueMs + latenessMs <= end) {
        clock.advance(Math.max(0, timer.dueMs + latenessMs - clock.monotonicMs()))
        fire()
      }
      clock.advance(end - clock.monotonicMs())
    },
    standStill(ms: number) {
      clock.advance(ms)
      fire()
    },
  }
}

test('every subscriber ticks fifty times a second, however late the timer fires', () => {
  for (const latenessMs of [0, 1.7, 13]) {
    const manual = createManualTicker()
    let ticks = 0
    manual.ticker.add(() => ticks++, rethrow)
    manual.run(60_000, latenessMs)
    assert.ok(Math.abs(ticks - 3000) <= 1, `${latenessMs} ms late: ${ticks}`)
  }
})

test('calls are spread over the ten phases', () => {
  const manual = createManualTicker()
  const times = Array.from({ length: 2 * phaseCount }, (): number[] => [])
  for (const mine of times) manual.ticker.add(() => mine.push(manual.clock.monotonicMs()), rethrow)
  manual.run(200)
  const phases = times.map((mine) => mine[0]! % framePeriodMs)
  assert.equal(new Set(phases).size, phaseCount)
  for (const mine of times) {
    mine.forEach((at, i) => assert.equal(at - mine[0]!, i * framePeriodMs))
  }
})

test('a stalled thread catches up at most five frames and skips the rest', () => {
  const manual = createManualTicker()
  let ticks = 0
  manual.ticker.add(() => ticks++, rethrow)
  manual.run(100)
  const before = ticks
  manual.standStill(1000)
  assert.ok(ticks - before >= maxCatchUpFrames && ticks - before <= maxCatchUpFrames + 1)
  assert.ok(manual.ticker.framesSkipped >= 44 && manual.ticker.framesSkipped <= 45)
  const after = ticks
  manual.run(1000)
  assert.ok(Math.abs(ticks - after - 50) <= 1)
})

test('a tick that throws is removed and reported; the others continue', () => {
  const manual = createManualTicker()
  const errors: unknown[] = []
  let ticks = 0
  const broken = new Error('broken call')
  manual.ticker.add(
    () => {
      throw broken
    },
    (error) => errors.push(error),
  )
  manual.ticker.add(() => ticks++, rethrow)
  manual.run(200)
  assert.deepEqual(errors, [broken])
  assert.equal(manual.ticker.size, 1)
  assert.ok(ticks >= 9)
})

test('a removed subscriber is not called again, even within its own tick, and removal twice is safe', () => {
  const manual = createManualTicker()
  let ticks = 0
  const leave = manual.ticker.add(() => {
    ticks++
    leave()
    leave()
  }, rethrow)
  manual.run(200)
  assert.deepEqual([ticks, manual.ticker.size], [1, 0])
  assert.equal(manual.isArmed, false, 'an empty ticker needs no timer')
})

test('a ticker that was idle for long starts without catching up', () => {
  const manual = createManualTicker()
  manual.run(100_000)
  let ticks = 0
  manual.ticker.add(() => ticks++, rethrow)
  manual.run(100)
  assert.ok(ticks >= 4 && ticks <= 5, `${ticks}`)
  assert.equal(manual.ticker.framesSkipped, 0)
})

test('stop removes every subscriber', () => {
  const manual = createManualTicker()
  manual.ticker.add(() => assert.fail('ticked after the stop'), rethrow)
  manual.ticker.stop()
  manual.run(100)
  assert.deepEqual([manual.ticker.size, manual.isArmed], [0, false])
})

test('lateness is measured per tick', () => {
  const manual = createManualTicker()
  manual.ticker.add(() => {}, rethrow)
  manual.run(2000, 3)
  const { p50Ms, p99Ms, count } = manual.ticker.lateness()
  assert.ok(p50Ms >= 3 && p50Ms <= 4.5, `${p50Ms}`)
  assert.ok(p99Ms >= p50Ms && p99Ms <= 4.5, `${p99Ms}`)
  assert.ok(count >= 99)
})

test('on the real clock it keeps its pace', async () => {
  const ticker = new PhasedTicker()
  let ticks = 0
  const startedAt = performance.now()
  await new Promise<void>((resolve, reject) => {
    ticker.add(() => {
      if (++ticks === 10) resolve()
    }, reject)
  })
  ticker.stop()
  assert.ok(performance.now() - startedAt >= 9 * framePeriodMs - 1)
})

test('the meter gives quantiles, and old values expire', () => {
  const meter = createLatenessMeter()
  assert.deepEqual(meter.read(0), { p50Ms: 0, p99Ms: 0, maxMs: 0, count: 0 })
  for (let i = 0; i < 98; i++) meter.record(0.1, i)
  meter.record(50, 98)
  meter.record(1e9, 99)
  const { p50Ms, p99Ms, maxMs, count } = meter.read(100)
  assert.deepEqual([p50Ms, p99Ms, maxMs, count], [0.25, 50.25, 200, 100])
  assert.equal(meter.read(25_000).count, 0)
})
