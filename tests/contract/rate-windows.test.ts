import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { sql } from '../../src/database/database.ts'
import { createFixedWindows } from '../../src/http/rate-limits/fixed-windows.ts'
import { createSharedWindows } from '../../src/http/rate-limits/shared-windows.ts'
import type { RateWindows } from '../../src/http/steps/rate-limit.ts'
import { createManualTime } from '../support/manual-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

/** The kernel's requirements, wherever the windows are counted (D11). */

const windowSeconds = 60
const clock = createManualTime(new Date('2026-08-01T00:00:00Z'))
let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** The end of all windows of the database, whose clock a test cannot move. */
const endStoredWindows = sql('test.end-windows', 'update rate_windows set ends_at = now()')

const implementations: Readonly<Record<string, () => RateWindows>> = {
  'in memory': () => createFixedWindows({ clock, windowSeconds, maxKeys: 100 }),
  'in PostgreSQL': () => createSharedWindows({ database: database.db, clock, windowSeconds }),
}

for (const [place, create] of Object.entries(implementations))
  suite(`rate windows ${place}`, () => {
    const keyOf = (name: string): string => `${place}:${name}`
    const hits = (windows: RateWindows, key: string, limit: number, times: number) =>
      Promise.all(Array.from({ length: times }, async () => windows.hit(keyOf(key), limit)))

    test('hits are counted one by one up to the limit, also simultaneous ones', async () => {
      const counted = await hits(create(), 'counted', 30, 30)
      const expected = Array.from({ length: 30 }, (_, at) => at + 1)
      assert.deepEqual(
        counted.map(({ count }) => count).toSorted((a, b) => a - b),
        expected,
      )
    })

    test('beyond the limit every hit reports it', async () => {
      const windows = create()
      await hits(windows, 'beyond', 5, 5)
      for (const { count } of await hits(windows, 'beyond', 5, 20)) assert.ok(count > 5)
    })

    test('the time to the window’s end is whole seconds, at least one and at most a window', async () => {
      for (const { resetSeconds } of await hits(create(), 'reset', 2, 4)) {
        assert.ok(Number.isInteger(resetSeconds))
        assert.ok(resetSeconds >= 1 && resetSeconds <= windowSeconds)
      }
    })

    test('keys are independent', async () => {
      const windows = create()
      await hits(windows, 'full', 3, 9)
      const [first] = await hits(windows, 'fresh', 3, 1)
      assert.equal(first?.count, 1)
    })

    test('a new window opens when the old one has ended', async () => {
      const windows = create()
      await hits(windows, 'renewed', 4, 9)
      await database.db.run(endStoredWindows, [])
      clock.advance(windowSeconds * 1000 + 1)
      const [first] = await hits(windows, 'renewed', 4, 1)
      assert.equal(first?.count, 1)
    })

    test('a lowered limit takes effect within the open window', async () => {
      const windows = create()
      await hits(windows, 'lowered', 40, 10)
      for (const { count } of await hits(windows, 'lowered', 5, 3)) assert.ok(count > 5)
    })
  })
