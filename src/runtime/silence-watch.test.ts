import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSilenceWatch } from './silence-watch.ts'

const ticks = (watch: ReturnType<typeof createSilenceWatch>, ...timesMs: number[]): boolean[] =>
  timesMs.map((nowMs) => watch.tick(nowMs))

test('silence for the whole limit is found, and not before', () => {
  const watch = createSilenceWatch(500, 0)
  assert.equal(watch.tickMs, 100)
  assert.deepEqual(ticks(watch, 100, 200, 300, 400, 500), [false, false, false, false, false])
  assert.equal(watch.tick(600), true)
})

test('a sign of life restarts the count', () => {
  const watch = createSilenceWatch(500, 0)
  ticks(watch, 100, 200, 300, 400, 500)
  watch.heard()
  assert.deepEqual(ticks(watch, 600, 700, 800, 900, 1000), Array(5).fill(false))
  assert.equal(watch.tick(1100), true)
})

test('a late tick gives no verdict, and does not count', () => {
  const watch = createSilenceWatch(500, 0)
  ticks(watch, 100, 200, 300, 400, 500)
  assert.equal(watch.tick(12_000), false)
  watch.heard()
  assert.deepEqual(ticks(watch, 12_100, 12_200, 12_300, 12_400, 12_500), Array(5).fill(false))
  // A hanging thread is still found, once the watcher is on time again.
  assert.equal(watch.tick(12_600), true)
})
