import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** What stands in the way, in one sentence for the person at the terminal. */
export class InstallError extends Error {
  constructor(message, exitStatus = 1) {
    super(message)
    this.exitStatus = exitStatus
  }
}

const installTimeoutMs = 600_000

/**
 * `npm ci` of the lock file in `folder`, without install scripts. Its output goes to stderr, so that
 * stdout stays free for what the command answers.
 */
export const installLocked = (folder, node = process.execPath) => {
  // Under `npm start` this is npm's own script, which runs with any Node; else npm is on the path.
  const npm = process.env.npm_execpath?.endsWith('.js') ? [node, process.env.npm_execpath] : ['npm']
  const [program, ...leading] = npm
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const result = spawnSync(program, [...leading, ...args], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    timeout: installTimeoutMs,
  })
  if (result.error?.code === 'ENOENT')
    throw new InstallError('npm is not on the path: install Node.js 18 or newer with npm.')
  if (result.status !== 0)
    throw new InstallError(
      `npm could not install the packages (${result.signal ?? result.error?.code ?? `exit status ${result.status}`}): ` +
        'see its message above, check the network and the registry, and run the command again.',
    )
}

/**
 * Calls `fill` with a new folder beside its destination. Whoever is killed in the middle leaves only a
 * folder named after its pid, which the next one to come removes.
 */
export const withStagingFolder = (parent, fill) => {
  mkdirSync(parent, { recursive: true })
  removeAbandoned(parent)
  const folder = join(parent, `staging-${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  try {
    fill(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const removeAbandoned = (parent) => {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^staging-(\d+)$/.exec(name)?.[1])
    if (pid > 0 && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

const isAlive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Puts a complete folder into its place. False when another process was faster. */
export const moveInto = (from, to) => {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false
    throw error
  }
}
