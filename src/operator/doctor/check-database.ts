import type { Config } from '../../config/read-config.ts'
import type { Queryable } from '../../database/database.ts'
import { clusterOf } from '../../database/embedded-folders.ts'
import { readServer } from './doctor-store.ts'
import { failed, ok, warning, type Finding } from './finding.ts'

const oldestPostgres = 150_000
const tolerableSkewMs = 2_000

/** Checks the server's version, the durability of its commits, and its clock. */
export const checkDatabase = async (db: Queryable, store: Config['store']): Promise<Finding[]> => {
  const row = await readServer(db)
  if (!row) return [failed('database', 'The database did not answer.')]
  const skewMs = Math.round(Math.abs(Date.now() - row.now_ms))
  return [
    row.number < oldestPostgres
      ? failed('database', `PostgreSQL ${row.version} is too old: use 15 or newer.`)
      : row.is_durable
        ? ok(
            'database',
            `PostgreSQL ${row.version} answers, its commits are durable; its data is in ${placeOf(store)}.`,
          )
        : warning(
            'database',
            `PostgreSQL ${row.version} may lose commits: turn fsync and synchronous_commit on, or accepted calls can be lost.`,
          ),
    skewMs <= tolerableSkewMs
      ? ok('clock', `This clock and the database's differ by ${skewMs} ms.`)
      : warning(
          'clock',
          `This clock and the database's differ by ${Math.round(skewMs / 1000)} s: run NTP on both; leases follow the database, logs and URLs this one.`,
        ),
  ]
}

/** Where the rows are stored. */
const placeOf = ({ databaseUrl, dataFolder }: Config['store']): string =>
  databaseUrl === undefined ? clusterOf(dataFolder) : `the server at ${new URL(databaseUrl).host}`
