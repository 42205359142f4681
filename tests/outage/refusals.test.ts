// Runs beside few others: it waits for most of its 100 s.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { missingPeer } from '../support/peers.ts'
import { describeOutages } from './trial/describe-outages.ts'
import { runWay } from './trial/run-way.ts'
import { ways } from './trial/ways.ts'

const options = { calls: 40, awayMs: 8_000, callsPerSecond: 20, report: () => undefined }
const tried = ['certificate', 'password', '503']

/** `npm run outage` plays the same for ten minutes with a thousand calls. */
describe('a trunk that is reached, and takes no call for a while', { concurrency: 3 }, () => {
  for (const way of ways.filter(({ name }) => tried.includes(name))) {
    const missing = way.name === 'certificate' ? missingPeer('openssl') : undefined
    it(
      `loses no call and rings no phone twice: ${way.name}`,
      missing === undefined ? {} : { skip: missing },
      async () => {
        const report = await runWay(way, { ...options, isTimed: false })
        assert.deepEqual(report.problems, [], describeOutages([report]))
      },
    )
  }
})
