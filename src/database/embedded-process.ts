import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../runtime/logger.ts'
import type { Binaries } from './embedded-binaries.ts'
import { postgresEnvironment, workingFolder } from './embedded-cluster.ts'
import type { Folders } from './embedded-folders.ts'
import { runAs } from './embedded-owner.ts'

/**
 * Holds PostgreSQL as its child and our pipe as its standard input. A line on the pipe requests a stop (SIGINT:
 * fast shutdown). The end of the pipe means that our process is gone, even by kill -9: then PostgreSQL gets 0.7 s
 * to shut down and is then quit, from which the next start recovers.
 */
const watchdog = `
exec 3<&0
"$@" </dev/null 3<&- &
postmaster=$!
(
  if read -r request <&3; then kill -INT $postmaster
  else kill -INT $postmaster; sleep 0.7; kill -QUIT $postmaster
  fi
) 2>/dev/null &
reader=$!
wait $postmaster
status=$?
kill $reader 2>/dev/null
exit $status
`

/** Crash recovery comes before readiness, and may replay up to max_wal_size. */
const startTimeoutMs = 300_000
const pollIntervalMs = 5
const stopTimeoutMs = 20_000
/** How much of PostgreSQL's last output is kept, to explain a failed start. */
const maxKeptOutput = 4_096

export interface RunningPostgres {
  readonly pid: number
  /** Resolves when it has ended, for any reason. */
  readonly exited: Promise<void>
  /** Fast shutdown: running transactions are rolled back. */
  stop(): Promise<void>
}

/** PostgreSQL ended before it was ready. The message is its last output. */
export class PostgresStartError extends Error {
  override readonly name = 'PostgresStartError'
}

export interface PostgresOptions {
  readonly binaries: Binaries
  readonly folders: Folders
  readonly settings: Readonly<Record<string, string>>
  readonly logger: Logger
}

/** Resolves when it accepts connections. Throws `PostgresStartError`. Only for the holder of the instance lock. */
export const startPostgres = async (options: PostgresOptions): Promise<RunningPostgres> => {
  const { folders, logger } = options
  const stale = stampOf(folders.cluster)
  const child = spawnWatchdog(options)
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  const output = keepOutput(child, logger)
  const stop = async (): Promise<void> => {
    child.stdin?.end('stop\n')
    await Promise.race([exited, sleep(stopTimeoutMs, undefined, { ref: false })])
    const pid = findPostmaster(folders.cluster)
    if (pid !== undefined) signal(pid, 'SIGQUIT')
    await exited
  }
  const pid = await waitUntilReady(child, folders.cluster, stale)
  if (pid !== undefined) return { pid, exited, stop }
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) await stop()
  throw new PostgresStartError(output())
}

const spawnWatchdog = ({ binaries, folders, settings }: PostgresOptions): ChildProcess => {
  const flags = Object.entries({
    listen_addresses: '',
    unix_socket_directories: socketsFrom(folders),
    unix_socket_permissions: '0700',
    ...settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const folder = folders.isEntered ? workingFolder : folders.cluster
  const command = [binaries.postgres, '-D', folder, ...flags]
  const child = spawn('/bin/sh', ['-c', watchdog, 'outdial-postgres', ...command], {
    ...runAs(folders.owner),
    cwd: folders.isEntered ? folders.cluster : '/',
    env: postgresEnvironment,
    // Its own process group: Ctrl-C in the terminal is for us, and we stop it in our own order.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  // A watchdog that is gone already has closed the pipe.
  child.stdin?.on('error', () => {})
  return child
}

/** Relative to the cluster, which is PostgreSQL's working folder. */
const socketsFrom = ({ isEntered, cluster, sockets }: Folders): string =>
  isEntered && dirname(sockets) === dirname(cluster) ? relative(cluster, sockets) : sockets

/** What each connection receives when we stop PostgreSQL. */
const ownStop = /terminating connection due to administrator command/

/** Forwards PostgreSQL's own log, and returns a function that returns its last lines. */
const keepOutput = (child: ChildProcess, logger: Logger): (() => string) => {
  let kept = ''
  child.on('error', (error) => (kept = error.message))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-maxKeptOutput)
    for (const line of text.split('\n')) {
      if (/\b(FATAL|PANIC):/.test(line) && !ownStop.test(line)) logger.warn({ line }, 'postgres')
      else if (line !== '') logger.debug({ line }, 'postgres')
    }
  })
  return () => kept
}

/** The pid of the postmaster once it is ready; undefined if it ended or took too long. */
const waitUntilReady = async (
  child: ChildProcess,
  cluster: string,
  stale: string,
): Promise<number | undefined> => {
  const deadlineMs = performance.now() + startTimeoutMs
  while (performance.now() < deadlineMs && child.pid !== undefined) {
    if (child.exitCode !== null || child.signalCode !== null) return undefined
    const { pid, status } = readPidFile(cluster)
    if (status === 'ready' && stampOf(cluster) !== stale) return pid
    await sleep(pollIntervalMs)
  }
  return undefined
}

/** Line 1 of postmaster.pid is the pid, line 8 the status (src/include/utils/pidfile.h). */
const readPidFile = (cluster: string): { pid?: number; status?: string } => {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    return Number.isInteger(pid) && pid > 0 ? { pid, status: lines[7]?.trim() ?? '' } : {}
  } catch {
    return {}
  }
}

/** Distinguishes the file of a dead postmaster from that of the new one. */
const stampOf = (cluster: string): string => {
  const stat = statSync(join(cluster, 'postmaster.pid'), { bigint: true, throwIfNoEntry: false })
  return stat ? `${stat.ino} ${stat.mtimeNs}` : ''
}

/** The postmaster that runs on the cluster, whichever process started it. */
export const findPostmaster = (cluster: string): number | undefined => {
  const { pid } = readPidFile(cluster)
  return pid !== undefined && isAlive(pid) && worksIn(pid, cluster) ? pid : undefined
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A postmaster's working folder is its cluster. Without /proc the pid file is trusted. */
const worksIn = (pid: number, cluster: string): boolean => {
  if (process.platform !== 'linux') return true
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch {
    return false
  }
}

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch {
    // It ended in between.
  }
}

/** The watchdog of a killed owner needs at most this long. */
const orphanGraceMs = 1_500
const orphanStopMs = 10_000

/**
 * Waits for the end of a postmaster whose owner is dead, and ends it if its watchdog died as well. Only for the
 * holder of the instance lock.
 */
export const endOrphan = async (cluster: string, logger: Logger): Promise<void> => {
  if (await isGone(cluster, orphanGraceMs)) return
  for (const name of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    const pid = findPostmaster(cluster)
    if (pid === undefined) return
    logger.warn({ pid, signal: name }, 'stopping a PostgreSQL that lost its owner')
    signal(pid, name)
    if (await isGone(cluster, orphanStopMs)) return
  }
}

const isGone = async (cluster: string, withinMs: number): Promise<boolean> => {
  const deadlineMs = performance.now() + withinMs
  while (findPostmaster(cluster) !== undefined) {
    if (performance.now() > deadlineMs) return false
    await sleep(10)
  }
  return true
}
