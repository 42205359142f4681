// Judges the format of every file, or with `--write` mends it: oxfmt, which takes a second, names the files that it
// would write differently, and Prettier, whose word counts, handles those alone. The two agree on nearly all files.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './test/child.mjs'

const mode = process.argv.includes('--write') ? '--write' : '--check'

const run = (program, args, stdio) => {
  const path = join(root, 'node_modules', program)
  const result = spawnSync(process.execPath, [path, ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio,
  })
  if (result.error) throw result.error
  return result
}

const listing = run('oxfmt/bin/oxfmt', ['-c', '.prettierrc.json', '--list-different', '.'], 'pipe')
const differing = listing.stdout.split('\n').filter((line) => line !== '')
if (listing.status !== 0 && differing.length === 0) {
  process.stderr.write(listing.stderr)
  process.exitCode = 1
} else if (differing.length > 0) {
  const { status } = run('prettier/bin/prettier.cjs', [mode, ...differing], 'inherit')
  process.exitCode = status ?? 1
}
