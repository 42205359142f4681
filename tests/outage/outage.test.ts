// Runs beside few others: it waits for most of its 150 s.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { missingPeer } from '../support/peers.ts'
import { describeOutages } from './trial/describe-outages.ts'
import { runWay } from './trial/run-way.ts'
import { ways } from './trial/ways.ts'

const options = { calls: 60, awayMs: 12_000, callsPerSecond: 20, report: () => undefined }
const missing = missingPeer('openssl')

/** `npm run outage` plays the same for ten minutes with a thousand calls. */
describe('a trunk that goes away and comes back', { concurrency: 3 }, () => {
  for (const way of ways) {
    const needs = way.name === 'certificate' && missing !== undefined ? { skip: missing } : {}
    it(`loses no call and rings no phone twice: ${way.name}`, needs, async () => {
      const report = await runWay(way, { ...options, isTimed: false })
      assert.deepEqual(report.problems, [], describeOutages([report]))
    })
  }
})
