import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The obstacle, in one sentence for the person at the terminal. */
export class InstallError extends Error {
  constructor(message, exitStatus = 1) {
    super(message)
    this.exitStatus = exitStatus
  }
}

const defaultLimits = {
  /** Limit of an install; a mobile connection fetches the packages (about 60 MB) faster. */
  installTimeoutMs: 600_000,
  /** One request of npm's without a response. npm's own limit of 5 min, three times, would look like a hang. */
  requestTimeoutMs: 60_000,
  /** How often a waiting person gets a status line. */
  progressIntervalMs: 10_000,
}

const wayRound =
  'check the network and the proxy (HTTPS_PROXY), choose another registry (npm config set registry URL), ' +
  'or copy node_modules/ and .runtime/ from a checkout of the same version and platform; ' +
  'then run the command again, which goes on where this one stopped.'

/**
 * `npm ci` of the lock file in `folder`, without install scripts, and with the development packages only on
 * request. Its output goes to stderr, so that stdout stays free for the command. Reports every 10 s what it waits
 * for.
 */
export const installLocked = async (
  folder,
  node = process.execPath,
  { development = false, limits = defaultLimits } = {},
) => {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  // Passed in both cases, because NODE_ENV or an .npmrc would decide otherwise.
  args.push(development ? '--include=dev' : '--omit=dev')
  const child = spawnNpm(node, [...args, `--fetch-timeout=${limits.requestTimeoutMs}`], folder)
  const stopTelling = tellProgress(node, folder, limits)
  const { error, status, signal, isTooLate } = await endOf(child, limits)
  stopTelling()
  if (error?.code === 'ENOENT')
    throw new InstallError('npm is not on the path: install Node.js 18 or newer with npm.')
  if (isTooLate)
    throw new InstallError(
      `npm did not install the packages within ${limits.installTimeoutMs / 1000} s: ${wayRound}`,
    )
  if (status !== 0)
    throw new InstallError(
      `npm could not install the packages (${signal ?? error?.code ?? `exit status ${status}`}): ` +
        `see its message above, ${wayRound}`,
    )
}

/** Under `npm start` this is npm's own script, which runs with any Node; else npm is on the path. */
const spawnNpm = (node, args, folder, stdio = ['ignore', 2, 2]) => {
  const own = process.env.npm_execpath
  return own?.endsWith('.js')
    ? spawn(node, [own, ...args], { cwd: folder, stdio })
    : spawn('npm', args, { cwd: folder, stdio })
}

const endOf = (child, { installTimeoutMs }) =>
  new Promise((resolve) => {
    let isTooLate = false
    const timer = setTimeout(() => {
      isTooLate = true
      child.kill('SIGKILL')
    }, installTimeoutMs)
    const settle = (end) => {
      clearTimeout(timer)
      resolve({ ...end, isTooLate })
    }
    child.on('error', (error) => settle({ error }))
    child.on('close', (status, signal) => settle({ status, signal }))
  })

/** Returns the function that stops the reports. */
const tellProgress = (node, folder, { installTimeoutMs, progressIntervalMs }) => {
  const startedMs = performance.now()
  let registry = 'the registry'
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    process.stderr.write(
      `Still installing from ${registry} after ${seconds} s (limit ${installTimeoutMs / 1000} s; Ctrl-C stops, nothing is lost)\n`,
    )
  }, progressIntervalMs)
  const asking = setTimeout(() => {
    const child = spawnNpm(node, ['config', 'get', 'registry'], folder, [
      'ignore',
      'pipe',
      'ignore',
    ])
    child.on('error', () => undefined)
    child.stdout?.on('data', (chunk) => (registry = String(chunk).trim() || registry))
    child.unref()
  }, progressIntervalMs / 2)
  return () => {
    clearInterval(timer)
    clearTimeout(asking)
  }
}

/**
 * Calls `fill` with a new folder beside its destination. A killed process leaves only a folder named after its pid,
 * which the next one removes.
 */
export const withStagingFolder = async (parent, fill) => {
  mkdirSync(parent, { recursive: true })
  removeAbandoned(parent)
  const folder = join(parent, `staging-${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  try {
    await fill(folder)
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

/** Moves a complete folder into its place. False when another process was faster. */
export const moveInto = (from, to) => {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false
    throw error
  }
}
