import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The test runner puts the folder of its run here; it deletes the folder at its end. */
export const runFolderVariable = 'OUTDIAL_TEST_FOLDER'

/**
 * Gives a data folder the database that a first start would make there, without anybody's data: a copy of one that
 * is made once in a run. initdb and the migrations take more processor time than the rest of a start. Without the test
 * runner it does nothing, and the first start makes the database.
 */
export const copyMadeDatabase = async (data: string): Promise<void> => {
  const folder = process.env[runFolderVariable]
  if (folder === undefined) return
  const made = join(folder, 'made-database')
  if (!existsSync(made)) await makeDatabase(made)
  // With the owner, which is PostgreSQL's user if we are root.
  execFileSync('cp', ['-Rp', join(made, 'postgres'), join(data, 'postgres')])
}

/** Under another name first: several files may make it at once, and the first one is used. */
const makeDatabase = async (made: string): Promise<void> => {
  const unfinished = `${made}.${randomBytes(4).toString('hex')}.new`
  // Loaded by the one file that makes it.
  const [{ startEmbedded }, { migrate }, { migrationsFolder }, { silentLogger }] =
    await Promise.all([
      import('../../src/database/embedded-postgres.ts'),
      import('../../src/database/migrate.ts'),
      import('../../src/database/open-store.ts'),
      import('../../src/runtime/logger.ts'),
    ])
  const server = await startEmbedded(unfinished, { isDurable: false })
  const { connection } = server
  await migrate({ connection, folder: migrationsFolder, logger: silentLogger })
  await server.stop()
  rmSync(join(unfinished, 'postgres/sockets'), { recursive: true, force: true })
  try {
    renameSync(unfinished, made)
  } catch (error) {
    if (!existsSync(made)) throw error
    rmSync(unfinished, { recursive: true, force: true })
  }
}
