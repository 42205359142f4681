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
 * Makes node_modules what package-lock.json says. They are installed beside the old ones and swapped
 * in complete, so that a killed install leaves the old ones, and of two installs one wins.
 */
export const ensurePackages = async (root, node) => {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const wanted = createHash('sha256')
    .update(lock)
    .update(process.platform + process.arch)
    .digest('hex')
  const modules = join(root, 'node_modules')
  if (readMarker(modules) === wanted) return
  // npm itself was here: its own record of what it installed tells as much as our marker.
  if (agrees(JSON.parse(lock), join(modules, '.package-lock.json'))) return finish(modules, wanted)
  process.stderr.write('Installing packages (once, until package-lock.json changes)\n')
  await withStagingFolder(join(root, '.runtime'), async (folder) => {
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      if (existsSync(join(root, file))) copyFileSync(join(root, file), join(folder, file))
    await installLocked(folder, node)
    finish(join(folder, 'node_modules'), wanted)
    swap(folder, modules, wanted)
  })
}

/** Links our own command, for `npx outdial`, and marks the folder as complete. */
const finish = (modules, wanted) => {
  const link = join(modules, '.bin', 'outdial')
  rmSync(link, { force: true })
  symlinkSync('../../bin/outdial.mjs', link)
  writeFileSync(join(modules, markerName), wanted)
}

const maxSwaps = 10

const swap = (folder, modules, wanted) => {
  for (let attempt = 0; attempt < maxSwaps; attempt++) {
    if (readMarker(modules) === wanted) return
    // The staging folder goes when we are done, and the old packages with it.
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

/** Whether every package the lock file asks for is recorded as installed; optional ones belong to other platforms. */
const agrees = (lock, record) => {
  if (!existsSync(record)) return false
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages
  return Object.entries(lock.packages).every(
    ([path, { version, integrity, optional }]) =>
      path === '' ||
      (installed[path] ? installed[path].integrity === integrity : optional === true) ||
      (installed[path] !== undefined &&
        integrity === undefined &&
        installed[path].version === version),
  )
}
