import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { InstallError, moveInto, withStagingFolder } from './npm.mjs'
import { ensurePackages } from './packages.mjs'

/** Says of which sources a built dashboard was made. */
const markerName = '.outdial-built'

/** A build takes some seconds; on a machine that dials at the same time it may take minutes. */
const buildTimeoutMs = 600_000

/** Two builds of one checkout at the same time: each swaps its whole folder in, and the last one stays. */
const maxSwaps = 10

export const ensureDashboardPackages = async (root, node) => {
  if (!hasSources(root)) return
  await ensurePackages(join(root, 'dashboard'), node, {
    development: true,
    runtime: join(root, '.runtime'),
    what: "the dashboard's packages",
  })
}

/**
 * Makes dashboard/dist what the sources say: its packages are installed and it is built where the sources, or the packages'
 * lock, have changed since. The folder is swapped in whole, so that a killed build leaves the one before.
 */
export const ensureDashboard = async (root, node) => {
  if (!hasSources(root)) return
  const dist = join(root, 'dashboard', 'dist')
  const hash = hashOfSources(root)
  if (readMarker(dist) === hash) return
  await ensureDashboardPackages(root, node)
  await withStagingFolder(join(root, '.runtime'), async (folder) => {
    const built = join(folder, 'dist')
    await runBuild(root, node, built)
    writeFileSync(join(built, markerName), hash)
    swap(built, dist, folder)
  })
}

/** A product that brings the built dashboard has no sources of it. */
const hasSources = (root) => existsSync(join(root, 'dashboard', 'package.json'))

/** Everything that a build reads: the application, the contract that its requests follow, and the locked packages. */
const hashOfSources = (root) => {
  const hash = createHash('sha256')
  for (const file of listSources(root))
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

const listSources = (root) =>
  ['dashboard/src', 'dashboard/build', 'src/contract']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1)),
    )
    .concat('dashboard/build.ts', 'dashboard/index.html', 'dashboard/package-lock.json')
    .toSorted()

const readMarker = (dist) => {
  try {
    return readFileSync(join(dist, markerName), 'utf8')
  } catch {
    return undefined
  }
}

const runBuild = async (root, node, folder) => {
  const child = spawn(node, [join(root, 'dashboard', 'build.ts'), folder], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    timeout: buildTimeoutMs,
    killSignal: 'SIGKILL',
  })
  const end = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.code))
    child.on('close', (status, signal) => resolve(signal ?? status))
  })
  if (end !== 0)
    throw new InstallError(`The dashboard could not be built (${end}): see the message above.`)
}

const swap = (built, dist, folder) => {
  for (let attempt = 0; attempt < maxSwaps; attempt++) {
    if (existsSync(dist)) renameSync(dist, join(folder, `replaced-${attempt}`))
    if (moveInto(built, dist)) return
  }
  throw new InstallError('Other builds keep replacing dashboard/dist: run one at a time.')
}
