import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { makeFolder } from '../runtime/make-folder.ts'
import { canEnter, findOwner, type Owner } from './embedded-owner.ts'
import { DatabaseSetupError, toSetupError } from './setup-error.ts'

/** Where root keeps what an unprivileged user must reach and a data folder in root's home cannot hold. */
const systemStateFolder = '/var/lib/outdial'

export interface Folders {
  readonly owner: Owner
  /** The cluster itself: PostgreSQL's data directory. */
  readonly cluster: string
  /** PostgreSQL's socket and the instance lock; short enough for a socket address. */
  readonly sockets: string
  /** Where a runnable copy of the binaries goes if one is needed. */
  readonly stage: string
}

/** The longest name in the sockets folder, `.s.PGSQL.5432.lock` and our lock's, and the limit of macOS (Linux: 107). */
const longestSocketName = 30
const maxSocketPathLength = 103

/**
 * Makes the folders of the cluster that belongs to `dataFolder`, owned by the user PostgreSQL will run
 * as. That is `<dataFolder>/postgres`; for root, when that user cannot get there (a home only root may
 * enter), a folder below `stateFolder` instead, whose place is written into `<dataFolder>/postgres-location`.
 */
export const prepareFolders = (dataFolder: string, stateFolder = systemStateFolder): Folders => {
  try {
    makeFolder(dataFolder, isRoot() ? 0o711 : 0o700)
    const folder = realpathSync(dataFolder)
    const home = findHome(folder, stateFolder)
    const owner = findOwner(home)
    makeOwned(home, owner)
    // For whoever wonders, years later, which of several clusters is still needed.
    if (!home.startsWith(folder)) writeFileSync(join(home, 'belongs-to'), `${folder}\n`)
    const sockets = findSocketsFolder(home, isRoot() ? stateFolder : tmpdir())
    makeOwned(sockets, owner)
    const stage = isRoot() ? stateFolder : folder
    return { owner, cluster: join(home, 'data'), sockets, stage }
  } catch (error) {
    throw toSetupError('make the database folder', dataFolder, error)
  }
}

const isRoot = (): boolean => process.getuid?.() === 0

const findHome = (dataFolder: string, stateFolder: string): string => {
  const pointer = join(dataFolder, 'postgres-location')
  if (existsSync(pointer)) return readPointer(pointer)
  const local = join(dataFolder, 'postgres')
  if (existsSync(local) || canEnter(findOwner(local), dataFolder)) return local
  mkdirSync(stateFolder, { recursive: true, mode: 0o755 })
  const home = join(stateFolder, randomUUID())
  writeFileSync(`${pointer}.new`, `${home}\n`)
  renameSync(`${pointer}.new`, pointer)
  return home
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

/** A folder that only `owner` may enter. One that somebody else made beforehand is refused. */
const makeOwned = (folder: string, owner: Owner): void => {
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
