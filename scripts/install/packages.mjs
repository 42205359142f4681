import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { InstallError, installLocked, moveInto, withStagingFolder } from './npm.mjs'

const markerName = '.outdial-installed'

/**
 * Makes node_modules match package-lock.json of the package at `root`: the packages for running, and with `development`
 * those for tests and checks. Sufficient packages stay. Others are installed beside the old ones and swapped in completely, so that a
 * killed install leaves the old ones, and of two installs one wins.
 */
export const ensurePackages = async (
  root,
  node,
  { development = false, runtime = join(root, '.runtime'), what = 'packages' } = {},
) => {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const whole = createHash('sha256')
    .update(lock)
    .update(process.platform + process.arch)
    .digest('hex')
  const modules = join(root, 'node_modules')
  const running = `${whole} production`
  const isEnough = (marker) => marker === whole || (!development && marker === running)
  if (isEnough(readMarker(modules))) return
  // npm itself installed here: its own record is as good as our marker.
  const packages = JSON.parse(lock).packages
  const record = readRecord(modules)
  if (agrees(packages, record)) return finish(root, modules, whole)
  if (!development && agrees(withoutDevelopment(packages), record))
    return finish(root, modules, running)
  const marker = development ? whole : running
  process.stderr.write(`Installing ${what} (once, until package-lock.json changes)\n`)
  await withStagingFolder(runtime, async (folder) => {
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      if (existsSync(join(root, file))) copyFileSync(join(root, file), join(folder, file))
    await installLocked(folder, node, { development })
    finish(root, join(folder, 'node_modules'), marker)
    swap(folder, modules, isEnough)
  })
}

/** Links our own command, for `npx outdial`, where the package has it, and marks the folder as complete. */
const finish = (root, modules, marker) => {
  if (existsSync(join(root, 'bin', 'outdial.mjs'))) {
    const link = join(modules, '.bin', 'outdial')
    rmSync(link, { force: true })
    symlinkSync('../../bin/outdial.mjs', link)
  }
  writeFileSync(join(modules, markerName), marker)
}

const maxSwaps = 10

const swap = (folder, modules, isEnough) => {
  for (let attempt = 0; attempt < maxSwaps; attempt++) {
    if (isEnough(readMarker(modules))) return
    // The staging folder is removed at the end, and the old packages with it.
    if (existsSync(modules)) moveAway(modules, join(folder, `replaced-${attempt}`))
    if (moveInto(join(folder, 'node_modules'), modules)) return
  }
  throw new InstallError('Other installs keep replacing node_modules: run one at a time.')
}

const moveAway = (from, to) => {
  try {
    renameSync(from, to)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

const readMarker = (modules) => {
  try {
    return readFileSync(join(modules, markerName), 'utf8')
  } catch {
    return undefined
  }
}

const withoutDevelopment = (packages) =>
  Object.fromEntries(
    Object.entries(packages).filter(([, { dev, devOptional }]) => !dev && !devOptional),
  )

/** npm's record of the installed packages. */
const readRecord = (modules) => {
  const record = join(modules, '.package-lock.json')
  return existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')).packages : undefined
}

/** Whether every one of the packages is recorded as installed; optional ones belong to other platforms. */
const agrees = (packages, installed) =>
  installed !== undefined &&
  Object.entries(packages).every(
    ([path, { version, integrity, optional }]) =>
      path === '' ||
      (installed[path] ? installed[path].integrity === integrity : optional === true) ||
      (installed[path] !== undefined &&
        integrity === undefined &&
        installed[path].version === version),
  )
