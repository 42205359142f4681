import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root, runNode } from './child.mjs'

/** Beside tests they take longer than alone. */
const timeoutMs = 300_000

const checkedFolders = ['src', 'tests', 'benchmarks', 'dashboard'].filter((folder) =>
  existsSync(join(root, folder)),
)

/** Only changed files are checked again. */
const tscArgs = ['--noEmit', '-p', '.', '--incremental', '--tsBuildInfoFile', '.runtime/tsc-cache']
const tscOfDashboardArgs = [
  ...['--noEmit', '-p', 'dashboard', '--incremental'],
  ...['--tsBuildInfoFile', '.runtime/tsc-dashboard-cache'],
]

export const staticChecks = [
  { name: 'types (tsc)', args: ['node_modules/typescript/bin/tsc', ...tscArgs] },
  {
    name: 'types of the dashboard (tsc)',
    args: ['node_modules/typescript/bin/tsc', ...tscOfDashboardArgs],
  },
  { name: 'lint (oxlint)', args: ['node_modules/oxlint/bin/oxlint', ...checkedFolders] },
  { name: 'format (oxfmt, prettier)', args: ['scripts/format.mjs'] },
]

/** Each check counts as one test. */
export const runStaticCheck = async ({ name, args }, { signal }) => {
  const startedMs = performance.now()
  const { status, output, killed } = await runNode(args, {
    timeoutMs,
    signal,
    yields: true,
  })
  const outcome = status === 0 ? 'passed' : 'failed'
  const detail = killed ? `Killed ${killed}.\n${output}` : output
  return { tests: [{ outcome, name, detail }], seconds: (performance.now() - startedMs) / 1000 }
}
