import { constants, existsSync } from 'node:fs'
import { access, statfs, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { sql, type Database } from '../database/database.ts'
import { clusterOf } from '../database/embedded-folders.ts'
import { NoInstallationError } from '../database/setup-error.ts'
import { checkCircuit } from './doctor-circuit.ts'
import { checkEngine } from './doctor-engine.ts'
import { checkLive } from './doctor-live.ts'
import { checkPorts } from './doctor-ports.ts'
import { checkTrunk } from './doctor-trunk.ts'
import { failed, ok, warning, type Finding } from './finding.ts'
import { httpOrigin } from '../http/http-origin.ts'
import { checkNodeSettings } from './node-settings.ts'

/**
 * Looks at everything an installation needs. Never throws: what cannot be looked at is a finding too. With `callNumber`
 * (E.164) it also places a call over the trunk, which ends as soon as the phone rings.
 */
export const examine = async (
  config: Config,
  openDatabase: <T>(work: (db: Database) => Promise<T>) => Promise<T>,
  callNumber?: string,
): Promise<Finding[]> => {
  const onDatabase = openDatabase(async (db) => [
    ...(await checkDatabase(db, placeOf(config))),
    ...(await checkNodeSettings(config, db)),
    ...(await checkLive(config, db)),
    ...(await checkCircuit(db)),
  ]).catch((error: unknown) => [
    error instanceof NoInstallationError
      ? warning('database', error.message)
      : failed('database', messageOf(error)),
  ])
  const findings = await Promise.all([
    onDatabase,
    checkDisk(config.OUTDIAL_DATA),
    checkTrunk(config, callNumber),
    checkEngine(config),
    checkPorts(config),
    Promise.resolve(checkDownloads(config)),
  ])
  return findings.flat()
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

const versionStatement = sql(
  'doctor.version',
  `select current_setting('server_version') as version,
          current_setting('server_version_num')::integer as number,
          current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' as is_durable,
          extract(epoch from clock_timestamp())::double precision * 1000 as now_ms`,
)

const oldestPostgres = 150_000
const tolerableSkewMs = 2_000

/** Where the rows truly are. */
const placeOf = ({ DATABASE_URL: url, OUTDIAL_DATA: folder }: Config): string =>
  url === undefined ? clusterOf(folder) : `the server at ${new URL(url).host}`

const checkDatabase = async (db: Database, place: string): Promise<Finding[]> => {
  const row = await db.row<{
    version: string
    number: number
    is_durable: boolean
    now_ms: number
  }>(versionStatement, [])
  if (!row) return [failed('database', 'The database did not answer.')]
  const skewMs = Math.round(Math.abs(Date.now() - row.now_ms))
  return [
    row.number < oldestPostgres
      ? failed('database', `PostgreSQL ${row.version} is too old: use 15 or newer.`)
      : row.is_durable
        ? ok(
            'database',
            `PostgreSQL ${row.version} answers, its commits are durable; its data is in ${place}.`,
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

/** A folder that is still to be made is judged by the one it will stand in. */
const nearestFolder = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))

const roomyBytes = 5 * 1024 ** 3
const leastBytes = 500 * 1024 ** 2

const checkDisk = async (folder: string): Promise<Finding> => {
  try {
    const existing = nearestFolder(folder)
    if (existing === folder) {
      const probe = join(folder, '.doctor')
      await writeFile(probe, '')
      await unlink(probe)
    } else await access(existing, constants.W_OK)
    const { bavail, bsize } = await statfs(existing)
    const free = bavail * bsize
    const text = `${(free / 1024 ** 3).toFixed(1)} GiB are free for ${folder}`
    if (free < leastBytes)
      return failed('disk', `Only ${text}: free some space, or set OUTDIAL_DATA elsewhere.`)
    return free < roomyBytes
      ? warning(
          'disk',
          `Only ${text}; an hour of calls takes 15 MB as MP3 and 60 MB while it lasts.`,
        )
      : ok('disk', `${text}.`)
  } catch (error) {
    return failed(
      'disk',
      `The data folder cannot be written (${messageOf(error)}): give this user access to ${folder}, or set OUTDIAL_DATA.`,
    )
  }
}

const isLoopback = (host: string): boolean => /^(?:127\.|::1$|localhost$)/.test(host)

const checkDownloads = (config: Config): Finding => {
  const told = config.OUTDIAL_PUBLIC_MEDIA_URL
  if (told !== undefined) return ok('downloads', `Clients download recordings from ${told}.`)
  const origin = httpOrigin(config.OUTDIAL_HOST, config.OUTDIAL_MEDIA_PORT)
  return isLoopback(config.OUTDIAL_HOST)
    ? ok('downloads', `Clients on this machine download recordings from ${origin}.`)
    : warning(
        'downloads',
        `Clients are told to download recordings from ${origin}: set OUTDIAL_PUBLIC_MEDIA_URL to the address they reach it at.`,
      )
}
