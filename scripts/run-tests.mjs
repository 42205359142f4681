// `npm test`: static checks, then every test file in a process of its own, over one PostgreSQL.
// `--check`: static checks, the floor plan and the tests beside the sources. Other words are paths to choose from.
// `--file-timeout=SECONDS` kills a file that runs longer.
// The last line is `N passed, N failed`, and the exit status is 1 when something failed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestServer, testServerVariable } from '../tests/support/test-server.ts'
import { printReport } from './test/report.mjs'
import { runStaticChecks } from './test/static-checks.mjs'
import { listTestFiles, runTestFiles } from './test/test-files.mjs'

/** After this everything that still runs is killed and counted as failed. */
const totalTimeoutMs = 60 * 60_000

const options = process.argv.slice(2)
const isCheck = options.includes('--check')
const chosen = options.filter((option) => !option.startsWith('--'))
const fileTimeoutOption = options.find((option) => option.startsWith('--file-timeout='))
const fileTimeoutMs = fileTimeoutOption && Number(fileTimeoutOption.split('=')[1]) * 1000

const stop = new AbortController()
const totalTimer = setTimeout(
  () => stop.abort(`after ${totalTimeoutMs / 60_000} min`),
  totalTimeoutMs,
)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort(`by ${signal}`))

const runOverDatabase = async (files) => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-test-'))
  const server = await startTestServer(folder)
  try {
    const environment = { [testServerVariable]: JSON.stringify(server.connection) }
    return await runTestFiles(files, { environment, signal: stop.signal, fileTimeoutMs, isCheck })
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const results = chosen.length > 0 ? [] : await runStaticChecks(stop.signal)
results.push(...(await runOverDatabase(listTestFiles({ isCheck, chosen }))))
clearTimeout(totalTimer)
process.exitCode = printReport(results) ? 0 : 1
