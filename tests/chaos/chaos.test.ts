// Runs beside few others: it waits for most of its 110 s.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeTrial } from './trial/describe-trial.ts'
import { runTrial } from './trial/run-trial.ts'

/** The long version is `npm run chaos -- --kills 1000`. */
const kills = 5
const hurry = 2
/** Few, because the rest is awaited after the last kill. */
const maxOpen = 50
const killingLimitMs = 20_000

describe('kill -9 of services and PostgreSQL under load', () => {
  for (const shape of ['single', 'pair'] as const) {
    it(`breaks no promise (${shape})`, async (test) => {
      const report = await runTrial({
        shape,
        seed: 4,
        kills,
        hurry,
        maxOpen,
        killingLimitMs,
        report: () => {},
      })
      test.diagnostic(describeTrial(report))
      assert.deepEqual(report.problems, [], describeTrial(report))
      // A trial without events proves nothing.
      assert.ok(report.kills.service > 0 && report.kills.postgres > 0, 'both were killed')
      assert.ok(report.verdict.calls.size > 20, `${report.verdict.calls.size} calls`)
      assert.ok(report.verdict.journal.invites > 10, `${report.verdict.journal.invites} INVITEs`)
      assert.ok(report.verdict.moves > 10, `${report.verdict.moves} moves`)
    })
  }
})
