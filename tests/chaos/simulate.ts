// Random histories of the queue on a PostgreSQL of its own, half of them with four things at a time:
// `npm run chaos simulate -- --seeds 2000 [--from 1]`. A history is decided by its seed. Exit status 1 when a promise broke.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { runCrowdedHistory, runHistory } from '../dispatch/simulation/run-history.ts'
import { createTestDatabase } from '../support/test-database.ts'
import { startTestServer, testServerVariable } from '../support/test-server.ts'

const maxSeeds = 1_000_000
const reportEvery = 100
const maxFailures = 5

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
  },
})
const seeds = Math.min(Number(values.seeds), maxSeeds)
const from = Number(values.from)

const folder = mkdtempSync(join(tmpdir(), 'outdial-simulate-'))
const server = await startTestServer(folder)
process.env[testServerVariable] = JSON.stringify(server.connection)
const startedMs = performance.now()
let failures = 0
let done = 0
try {
  const database = await createTestDatabase()
  for (let seed = from; seed < from + seeds && failures < maxFailures; seed += 1) {
    try {
      await (seed % 2 === 0 ? runCrowdedHistory : runHistory)(database.db, seed)
    } catch (error) {
      failures += 1
      console.log(inspect(error, { depth: 4 }))
    }
    done += 1
    if (done % reportEvery === 0) console.log(`  ${done} histories`)
  }
  await database.drop()
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
const seconds = (performance.now() - startedMs) / 1000
console.log(`simulate: ${done} histories, ${failures} broke a promise (${seconds.toFixed(0)} s)`)
process.exitCode = failures === 0 ? 0 : 1
