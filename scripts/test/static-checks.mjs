import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root, runNode } from './child.mjs'
import { progress } from './report.mjs'

const timeoutMs = 120_000

const checkedFolders = ['src', 'tests', 'benchmarks', 'dashboard'].filter((folder) =>
  existsSync(join(root, folder)),
)

/** Only files that changed are looked at again. */
const prettierArgs = ['--check', '.', '--cache', '--cache-location', '.runtime/prettier-cache']

const checks = [
  { name: 'types (tsc)', args: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.'] },
  { name: 'lint (oxlint)', args: ['node_modules/oxlint/bin/oxlint', ...checkedFolders] },
  { name: 'format (prettier)', args: ['node_modules/prettier/bin/prettier.cjs', ...prettierArgs] },
]

/** Each check counts as one test. They run side by side: the longest uses one core. */
export const runStaticChecks = (signal) =>
  Promise.all(
    checks.map(async ({ name, args }) => {
      const { status, output, killed } = await runNode(args, { timeoutMs, signal })
      const outcome = status === 0 ? 'passed' : 'failed'
      progress(outcome, name)
      return { outcome, name, detail: killed ? `Killed ${killed}.\n${output}` : output }
    }),
  )
