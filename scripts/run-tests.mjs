// `npm test`: static checks and every test file, each in its own process, over one PostgreSQL. Mostly waiting
// files run side by side, working files fill what they leave of the processors, and files that must run alone come
// last. `--check`:
// static checks, the floor plan and the tests beside the sources. Other words are paths of files to run.
// `--file-timeout=SECONDS` kills a file that runs longer. The last line is `N passed, N failed`, and the exit
// status is 1 if something failed.
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { runFolderVariable } from '../tests/support/made-database.ts'
import { startTestServer, testServerVariable } from '../tests/support/test-server.ts'
import { runInLanes, working } from './test/lanes.mjs'
import { printReport, progress } from './test/report.mjs'
import { runStaticCheck, staticChecks } from './test/static-checks.mjs'
import { listTestFiles, orderTestFiles, runTestFile } from './test/test-files.mjs'

/** After this all running files are killed and counted as failed. */
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

const runAll = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-test-'))
  const server = await startTestServer(folder)
  const environment = {
    [testServerVariable]: JSON.stringify(server.connection),
    [runFolderVariable]: folder,
  }
  const context = { folder, environment, signal: stop.signal, fileTimeoutMs }
  const results = new Map()
  const taskOf = ({ lane, weight }, name, run) => ({
    lane,
    weight,
    work: async () => {
      const result = await run()
      results.set(name, result)
      progress(name, result)
    },
  })
  try {
    const checks = chosen.length > 0 ? [] : staticChecks
    const files = listTestFiles({ isCheck, chosen })
    const tasks = [
      ...checks.map((check) => taskOf(working, check.name, () => runStaticCheck(check, context))),
      ...orderTestFiles(files).map(({ file, ...manner }) =>
        taskOf(manner, file, () => runTestFile(file, context)),
      ),
    ]
    await runInLanes(tasks, availableParallelism())
    // In the order of the files, not of their ends.
    return [...checks.map(({ name }) => name), ...files].map((name) => ({
      name,
      ...results.get(name),
    }))
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const results = await runAll()
clearTimeout(totalTimer)
process.exitCode = printReport(results, performance.now() / 1000) ? 0 : 1
