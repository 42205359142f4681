import { constants, existsSync } from 'node:fs'
import { access, statfs, unlink, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { sql, type Database } from '../database/database.ts'
import { clusterOf } from '../database/embedded-folders.ts'
import { NoInstallationError } from '../database/setup-error.ts'
import { silentLogger } from '../runtime/logger.ts'
import { noSource } from '../sip/sources.ts'
import { createUserAgent } from '../sip/user-agent.ts'
import { createSipCarrier } from '../telephony/sip-carrier.ts'
import { bindAddressFor, parseTrunkUri, type Trunk } from '../telephony/trunk-uri.ts'
import { checkEngine } from './doctor-engine.ts'
import { checkLive } from './doctor-live.ts'
import { checkPorts } from './doctor-ports.ts'
import { failed, ok, warning, type Finding } from './finding.ts'
import { httpOrigin } from './http-origin.ts'

/** Looks at everything an installation needs. Never throws: what cannot be looked at is a finding too. */
export const examine = async (
  config: Config,
  openDatabase: <T>(work: (db: Database) => Promise<T>) => Promise<T>,
): Promise<Finding[]> => {
  const onDatabase = openDatabase(async (db) => [
    ...(await checkDatabase(db, placeOf(config))),
    ...(await checkLive(config, db)),
  ]).catch((error: unknown) => [
    error instanceof NoInstallationError
      ? warning('database', error.message)
      : failed('database', messageOf(error)),
  ])
  const findings = await Promise.all([
    onDatabase,
    checkDisk(config.OUTDIAL_DATA),
    checkTrunk(config),
    Promise.resolve(checkNat(config)),
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

const checkTrunk = async (config: Config): Promise<Finding> => {
  if (config.OUTDIAL_SIP_TRUNK === undefined)
    return ok(
      'trunk',
      'No trunk is configured: calls of sandbox organizations go to the sandbox carrier; OUTDIAL_SIP_TRUNK lets live ones ring phones.',
    )
  let trunk: Trunk
  try {
    trunk = parseTrunkUri(config.OUTDIAL_SIP_TRUNK)
  } catch (error) {
    return failed('trunk', `OUTDIAL_SIP_TRUNK: ${messageOf(error)}.`)
  }
  const userAgent = createUserAgent({
    logger: silentLogger,
    sources: noSource,
    bindAddress: bindAddressFor(trunk),
  })
  try {
    await userAgent.start()
    const health = await createSipCarrier({ userAgent, trunk, logger: silentLogger }).ping()
    return health.isAlive
      ? aliveTrunk(
          trunk,
          `The trunk at ${trunk.host} answers OPTIONS with ${health.sipStatus} in ${Math.round(health.roundTripMs)} ms`,
        )
      : failed(
          'trunk',
          `The trunk at ${trunk.host} does not answer OPTIONS: check host, port and transport in OUTDIAL_SIP_TRUNK, and that the firewall lets SIP out and its answers in.`,
        )
  } catch (error) {
    return failed('trunk', `The trunk at ${trunk.host} cannot be asked: ${messageOf(error)}.`)
  } finally {
    await userAgent.stop()
  }
}

const aliveTrunk = (trunk: Trunk, message: string): Finding =>
  trunk.credentials === undefined || trunk.auth !== undefined
    ? ok('trunk', `${message}.`)
    : warning(
        'trunk',
        `${message}. Its password may be answered with MD5: add ;auth=sha-256 to OUTDIAL_SIP_TRUNK, or ;auth=md5 where the carrier has no better.`,
      )

const isPrivate = (address: string): boolean =>
  /^(10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(
    address,
  )

const checkNat = (config: Config): Finding => {
  if (config.OUTDIAL_SIP_TRUNK === undefined)
    return ok('nat', 'The sandbox carrier is on loopback; no NAT is in the way.')
  if (config.OUTDIAL_PUBLIC_IP !== undefined)
    return ok('nat', `Contact and SDP carry ${config.OUTDIAL_PUBLIC_IP}.`)
  const addresses = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address)
  return addresses.length > 0 && addresses.every(isPrivate)
    ? warning(
        'nat',
        `This machine has private addresses only (${addresses.join(', ')}): set OUTDIAL_PUBLIC_IP to the address the trunk sees, and forward the ports of OUTDIAL_RTP_PORTS (UDP).`,
      )
    : ok('nat', 'This machine has a public address.')
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
