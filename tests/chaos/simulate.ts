// Random histories of the queue on its own PostgreSQL, half of them with four concurrent steps: `npm run chaos
// simulate -- --seeds 2000 [--from 1]`. A seed determines its history. Exit status 1 if a promise broke.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { runHistories } from '../dispatch/simulation/run-histories.ts'
import { startTestServer, testServerVariable } from '../support/test-server.ts'

const maxSeeds = 1_000_000
const reportEvery = 100

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'outdial-simulate-'))
const server = await startTestServer(folder)
process.env[testServerVariable] = JSON.stringify(server.connection)
const startedMs = performance.now()
try {
  const { done, failures } = await runHistories({
    from: Number(values.from),
    seeds: Math.min(Number(values.seeds), maxSeeds),
    onDone: (count) => {
      if (count % reportEvery === 0) console.log(`  ${count} histories`)
    },
  })
  for (const failure of failures) console.log(inspect(failure, { depth: 4 }))
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
  console.log(`simulate: ${done} histories, ${failures.length} broke a promise (${seconds} s)`)
  process.exitCode = failures.length === 0 ? 0 : 1
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
