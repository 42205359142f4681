import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Config } from '../config/read-config.ts'
import { backUp, type BackupObject, type BackupReport } from '../database/backup/back-up.ts'
import { restore, type RestoreReport } from '../database/backup/restore.ts'
import type { Queryable } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { openDatabase } from '../database/open-database.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import { createSecretBox } from '../domains/organizations/secret-box.ts'
import { listRecordingObjectKeys } from '../domains/recordings/recording-objects.ts'
import { listSealedSecrets } from '../domains/trunks/trunk-store.ts'
import type { Logger } from '../runtime/logger.ts'
import { isObjectKey, type ObjectStorage } from '../storage/object-storage.ts'
import {
  migrationsFolder,
  openConnection,
  requireDatabase,
  requireInstallation,
} from '../database/open-store.ts'
import { encodingTaskHere, spoolFolderOf } from '../live-call/recording/spool-location.ts'
import { openRecordingStorage } from '../storage/open-recording-storage.ts'

/** The installation that is backed up or restored. */
type Place = Pick<Config, 'store' | 'bucket'>

interface ArchiveOptions {
  readonly path: string
  /** Whether the archive has recordings. Those in a bucket are never included: the bucket has its own backups. */
  readonly withRecordings: boolean
}

interface InstallationBackup extends BackupReport {
  /** The trunks whose secrets are in the file, encrypted with a key that is not. */
  readonly sealed_trunks: readonly string[]
}

/** Writes a backup of this installation, which may be running. Throws if the file exists. */
export const backUpInstallation = async (
  config: Place,
  { path, withRecordings }: ArchiveOptions,
  logger: Logger,
): Promise<InstallationBackup> => {
  if (existsSync(path)) throw new OperatorError(`${path} exists already: name another file.`)
  requireFolder(dirname(path))
  await requireInstallation(config.store)
  const { kind, objects } = openRecordingStorage(config.store.dataFolder, config.bucket)
  const areIncluded = withRecordings && kind === 'folder'
  let sealed: readonly string[] = []
  const listObjects = async function* (snapshot: Queryable): AsyncGenerator<BackupObject> {
    sealed = (await listSealedSecrets(snapshot)).map(({ name }) => name)
    if (areIncluded) yield* readObjects(snapshot, objects)
  }
  const report = await withConnection(config, logger, (connection) =>
    backUp({ connection, path, now: new Date(), listObjects }).catch(
      explainFullDisk(
        `The disk that was to hold ${path} is full: free some, or name a file elsewhere.`,
      ),
    ),
  )
  return { ...report, sealed_trunks: sealed }
}

/** Replaces the error of a full disk (53100 in PostgreSQL) by this sentence. */
const explainFullDisk =
  (sentence: string) =>
  (error: unknown): never => {
    if (error instanceof Error && 'code' in error && fullDiskCodes.has(error.code))
      throw new OperatorError(sentence, { cause: error })
    throw error
  }

const fullDiskCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', '53100'])

/** Refuses an unusable folder before any work is done. */
const requireFolder = (folder: string): void => {
  if (!existsSync(folder))
    throw new OperatorError(`There is no folder ${folder}: make it, or name a file elsewhere.`)
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    throw new OperatorError(`This user may not write to ${folder}: name a file elsewhere.`)
  }
}

interface RestoredInstallation extends RestoreReport {
  /** The trunks whose secrets were encrypted with a key that is not here. */
  readonly sealed_trunks: readonly string[]
}

/** Restores a backup into this installation, which must be empty. Recordings go to its own storage. */
export const restoreInstallation = (
  config: Place & Pick<Config, 'program'>,
  { path, withRecordings }: ArchiveOptions,
  logger: Logger,
): Promise<RestoredInstallation> => {
  if (!existsSync(path)) throw new OperatorError(`There is no file ${path}.`)
  // The archive is read twice, and a pipe or a device may never end.
  if (!statSync(path).isFile()) throw new OperatorError(`${path} is no file.`)
  const { kind, objects } = openRecordingStorage(config.store.dataFolder, config.bucket)
  return withConnection(config, logger, async (connection) => {
    const report = await restore({
      connection,
      path,
      migrationsFolder,
      tableOfUse: 'organizations',
      isObjectKey,
      requireRoom: async ({ rowBytes, objectBytes }) =>
        requireRoom(
          config,
          (config.store.databaseUrl === undefined ? rowBytes : 0) +
            (withRecordings && kind === 'folder' ? objectBytes : 0),
        ),
      taskHere: (task) => encodingTaskHere(spoolFolderOf(config.store.dataFolder), task),
      putObject: async (key, bytes) => {
        if (withRecordings) await objects.put(key, { bytes })
      },
      logger,
    }).catch(
      explainFullDisk(
        `There is no room for the backup in ${config.store.dataFolder}: free some space and restore again, or set OUTDIAL_DATA to a folder on a larger disk.`,
      ),
    )
    const box = createSecretBox({ ...config.program, ...config.store })
    const db = openDatabase({ connection, logger, maxConnections: 1 })
    try {
      const sealed = await listSealedSecrets(db)
      const lost = sealed.filter(({ secrets }) => !box.canOpen(secrets))
      return { ...report, sealed_trunks: lost.map(({ name }) => name) }
    } finally {
      await db.stop()
    }
  })
}

/** Refuses a backup that does not fit before any of it is written. */
const requireRoom = async (
  { store: { dataFolder: folder } }: Place,
  bytes: number,
): Promise<void> => {
  const { bavail, bsize } = await statfs(folder)
  if (bytes > bavail * bsize)
    throw new OperatorError(
      `The backup takes ${gibibytes(bytes)} unpacked, and ${gibibytes(bavail * bsize)} are free for ${folder}: free some space, or set OUTDIAL_DATA to a folder on a larger disk.`,
    )
}

const gibibytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

/** Migrates the schema to this version. Returns the names of the migrations applied. */
export const migrateInstallation = (config: Place, logger: Logger): Promise<string[]> =>
  withConnection(config, logger, (connection) =>
    migrate({ connection, folder: migrationsFolder, logger }),
  )

const withConnection = async <T>(
  config: Place,
  logger: Logger,
  work: (connection: Awaited<ReturnType<typeof openConnection>>['connection']) => Promise<T>,
): Promise<T> => {
  const { databaseUrl } = config.store
  if (databaseUrl !== undefined) await requireDatabase(databaseUrl)
  const opened = await openConnection(config.store, 'command', logger)
  try {
    return await work(opened.connection)
  } finally {
    await opened.stop()
  }
}

/** Skips recordings that were deleted after the snapshot. */
async function* readObjects(
  snapshot: Queryable,
  storage: ObjectStorage,
): AsyncGenerator<BackupObject> {
  for await (const key of listRecordingObjectKeys(snapshot)) {
    const bytes = await readObject(storage, key)
    if (bytes) yield { key, bytes }
  }
}

const readObject = async (storage: ObjectStorage, key: string): Promise<Buffer | undefined> => {
  const object = await storage.open(key)
  if (!object) return undefined
  if (object.size === 0) return Buffer.alloc(0)
  return object
    .stream({ start: 0, end: object.size - 1 })
    .then(buffer)
    .catch(async (error: unknown) => {
      if (await storage.open(key)) throw error
      return undefined
    })
}
