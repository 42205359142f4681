import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { makeFolder } from '../runtime/make-folder.ts'
import { canEnter, findOwner, type Owner } from './embedded-owner.ts'
import { DatabaseSetupError, toSetupError } from './setup-error.ts'

/** Root's runnable copy of the binaries, and sockets whose path would be too long. */
const systemStateFolder = '/var/lib/outdial'

export interface Folders {
  readonly owner: Owner
  /** The cluster itself: PostgreSQL's data directory. */
  readonly cluster: string
  /** Whether PostgreSQL must be started inside the cluster's folder, because its user could not enter the path. */
  readonly isEntered: boolean
  /** PostgreSQL's socket and the instance lock; short enough for a socket address. */
  readonly sockets: string
  /** Place of a runnable copy of the binaries, if one is needed. */
  readonly stage: string
}

/**
 * The longest names in the sockets folder, `.s.PGSQL.5432.lock` and our lock's, and the limit of macOS (Linux:
 * 107).
 */
const longestSocketName = 30
const maxSocketPathLength = 103

/**
 * Creates the folders of the cluster of `dataFolder`, owned by PostgreSQL's user. That is `<dataFolder>/postgres`,
 * even if only root may enter the path: then PostgreSQL is started inside. An earlier version may have put the
 * cluster elsewhere, as `<dataFolder>/postgres-location` states.
 */
export const prepareFolders = (dataFolder: string, stateFolder = systemStateFolder): Folders => {
  try {
    makeFolder(dataFolder, isRoot() ? 0o711 : 0o700)
    const folder = realpathSync(dataFolder)
    const home = homeOf(folder)
    const owner = findOwner(home)
    makeOwned(home, owner)
    const sockets = findSocketsFolder(home, isRoot() ? stateFolder : tmpdir())
    makeOwned(sockets, owner)
    const stage = isRoot() ? stateFolder : folder
    return {
      owner,
      cluster: join(home, 'data'),
      isEntered: mustBeEntered(owner, home),
      sockets,
      stage,
    }
  } catch (error) {
    throw toSetupError('make the database folder', dataFolder, error)
  }
}

const isRoot = (): boolean => process.getuid?.() === 0

/** The folder of a data folder's cluster, whether or not it exists. Throws `DatabaseSetupError`. */
export const clusterOf = (dataFolder: string): string => join(homeOf(dataFolder), 'data')

/** Whether a data folder has an Outdial database. */
export const hasCluster = (dataFolder: string): boolean =>
  existsSync(join(clusterOf(dataFolder), 'PG_VERSION'))

const homeOf = (dataFolder: string): string => {
  const pointer = join(dataFolder, 'postgres-location')
  return existsSync(pointer) ? readPointer(pointer) : join(dataFolder, 'postgres')
}

/** A process can be started inside only if the system has a separate name for a working folder. */
const mustBeEntered = (owner: Owner, home: string): boolean => {
  if (canEnter(owner, home)) return false
  if (process.platform === 'linux') return true
  throw new DatabaseSetupError(
    `The user ${owner.name ?? owner.uid} that runs PostgreSQL may not enter ${home}: open the folders above it (chmod o+x), or set OUTDIAL_DATA to a folder such as ${systemStateFolder}.`,
  )
}

const readPointer = (pointer: string): string => {
  const home = readFileSync(pointer, 'utf8').trim()
  if (isAbsolute(home)) return home
  throw new DatabaseSetupError(`${pointer} does not name an absolute folder: restore or remove it.`)
}

const findSocketsFolder = (home: string, shortFolder: string): string => {
  const near = join(home, 'sockets')
  if (Buffer.byteLength(near) + 1 + longestSocketName <= maxSocketPathLength) return near
  const key = createHash('sha256').update(home).digest('hex').slice(0, 16)
  mkdirSync(shortFolder, { recursive: true, mode: 0o755 })
  return join(shortFolder, `outdial-${process.getuid?.() ?? 0}-${key}`)
}

/** A folder that only `owner` may enter. One that another user created beforehand is refused. */
export const makeOwned = (folder: string, owner: Owner): void => {
  const ownerUid = owner.uid ?? process.getuid?.()
  if (!existsSync(folder)) {
    mkdirSync(folder, { mode: 0o700 })
    chmodSync(folder, 0o700)
    if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid)
  }
  const { uid, mode } = lstatSync(folder)
  if (uid !== ownerUid || (mode & 0o077) !== 0)
    throw new DatabaseSetupError(
      `${folder} belongs to another user (id ${uid}) or is open to others: start as that user, ` +
        'close it (chmod 700), or set OUTDIAL_DATA to another folder.',
    )
}
