import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from './embedded-binaries.ts'
import { makeOwned, type Folders } from './embedded-folders.ts'
import { runAs } from './embedded-owner.ts'
import { DatabaseSetupError, toSetupError } from './setup-error.ts'

/** The one database user; only processes that may enter the sockets folder reach it. */
export const databaseUser = 'outdial'

const initdbTimeoutMs = 120_000

const initdbArguments = [
  `--username=${databaseUser}`,
  '--auth=trust',
  '--encoding=UTF8',
  // PostgreSQL's own C.UTF-8: independent of the system's locales and their upgrades.
  '--locale-provider=builtin',
  '--locale=C.UTF-8',
  '--data-checksums',
]

/**
 * Creates the cluster if there is none: under another name first, then renamed, so that a killed first start leaves
 * no partial cluster. Only for the holder of the instance lock.
 */
export const ensureCluster = async (
  { owner, cluster, isEntered }: Folders,
  binaries: Binaries,
  { isDurable }: { isDurable: boolean },
): Promise<void> => {
  if (existsSync(join(cluster, 'PG_VERSION'))) return refuseOtherVersion(cluster, binaries)
  if (existsSync(cluster))
    throw new DatabaseSetupError(
      `${cluster} exists but is no PostgreSQL cluster: move it away and start again.`,
    )
  await removeUnfinished(cluster)
  const unfinished = `${cluster}.${randomBytes(4).toString('hex')}.new`
  try {
    makeOwned(unfinished, owner)
    await promisify(execFile)(
      binaries.initdb,
      [
        `--pgdata=${isEntered ? workingFolder : unfinished}`,
        ...initdbArguments,
        ...(isDurable ? [] : ['--no-sync']),
      ],
      {
        ...runAs(owner),
        cwd: isEntered ? unfinished : '/',
        env: postgresEnvironment,
        timeout: initdbTimeoutMs,
      },
    )
    await writeFile(join(unfinished, 'pg_hba.conf'), `local all ${databaseUser} trust\n`)
    await rename(unfinished, cluster)
    syncFolder(dirname(cluster))
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => {})
    throw toSetupError('create the database', dirname(cluster), stderrOf(error))
  }
}

/** The name of a process's own working folder on Linux: it can be opened where the path from the root cannot. */
export const workingFolder = '/proc/self/cwd'

/** Nothing of our own environment reaches PostgreSQL: neither secrets nor PG* variables nor locales. */
export const postgresEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

const refuseOtherVersion = (cluster: string, { majorVersion }: Binaries): void => {
  const found = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  if (found === majorVersion) return
  throw new DatabaseSetupError(
    `${cluster} was made by PostgreSQL ${found}, and this version of Outdial brings ${majorVersion}: ` +
      'make a backup with the version that made it, and restore that into a new data folder.',
  )
}

/** Remains of earlier killed first starts. One whose initdb still runs may resist, which does no harm. */
const removeUnfinished = async (cluster: string): Promise<void> => {
  const prefix = `${basename(cluster)}.`
  for (const name of readdirSync(dirname(cluster)))
    if (name.startsWith(prefix) && name.endsWith('.new'))
      await rm(join(dirname(cluster), name), { recursive: true, force: true }).catch(() => {})
}

const stderrOf = (error: unknown): unknown =>
  error instanceof Error && 'stderr' in error && error.stderr ? error.stderr : error

const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
