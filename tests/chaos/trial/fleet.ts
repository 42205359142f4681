import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { liveSettings } from '../../support/live-tenant.ts'
import type pg from 'pg'
import { prepareFolders } from '../../../src/database/embedded-folders.ts'
import { startEmbedded, type EmbeddedPostgres } from '../../../src/database/embedded-postgres.ts'
import { embeddedConnection } from '../../support/embedded-connection.ts'
import { createInstallation } from '../../support/outdial-process.ts'
import { startSandboxCarrier } from '../../support/sandbox-carrier-process.ts'
import { keepService, type KeptService } from './kept-service.ts'
import type { Kill } from './kill-schedule.ts'

/** `single`: one process with its embedded database. `pair`: two over a separate database. */
export type Shape = 'single' | 'pair'

/** The programs under trial, and the carrier that outlives them all. */
export interface Fleet {
  readonly services: readonly KeptService[]
  readonly carrier: Awaited<ReturnType<typeof startSandboxCarrier>>
  readonly connection: pg.ClientConfig
  /** False: there was nothing to kill at this moment. */
  strike(kill: Kill): boolean
  /** Stops everything; the folder with its logs stays if requested. */
  stop(keepFolder: boolean): Promise<void>
  /** Logs of the services and the carrier's journal. */
  readonly folder: string
}

/** Calls at once over all nodes. */
export const trunkChannels = 50
const callsPerSecond = 25

const settings = {
  OUTDIAL_MAX_CHANNELS: String(trunkChannels),
  OUTDIAL_TRUNK_CHANNELS: String(trunkChannels),
  OUTDIAL_MAX_CPS: String(callsPerSecond),
  OUTDIAL_RING_TIMEOUT_SECONDS: '3',
  OUTDIAL_DRAIN_SECONDS: '0',
  OUTDIAL_LOG_LEVEL: 'info',
}

export const startFleet = async (shape: Shape): Promise<Fleet> => {
  const folder = mkdtempSync(join(tmpdir(), `outdial-chaos-${shape}-`))
  const carrier = await startSandboxCarrier(join(folder, 'journal'), 'many')
  const common = { ...settings, ...liveSettings(carrier.trunk) }
  const shared = shape === 'pair' ? await startSharedDatabase(folder) : undefined
  const installations: Awaited<ReturnType<typeof createInstallation>>[] = []
  for (const rtpPorts of shape === 'pair' ? ['11000-14999', '15000-18999'] : ['11000-18999'])
    installations.push(
      await createInstallation({
        ...common,
        OUTDIAL_RTP_PORTS: rtpPorts,
        ...(shared && { DATABASE_URL: urlOf(shared.server.connection) }),
      }),
    )
  const cluster = shared?.cluster ?? prepareFolders(installations[0]?.data ?? '').cluster
  const services: KeptService[] = []
  for (const [index, { env }] of installations.entries()) {
    const service = keepService(env, join(folder, `service-${index + 1}.log`))
    services.push(service)
    await service.ready()
  }
  return {
    services,
    carrier,
    folder,
    connection: shared?.server.connection ?? embeddedConnection(installations[0]?.data ?? ''),
    strike: (kill) => strike(kill, services, cluster),
    async stop(keepFolder) {
      await Promise.all(services.map((service) => service.stop()))
      await shared?.server.stop()
      await carrier.stop()
      for (const installation of installations) installation.remove()
      if (!keepFolder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The harness supervises this one and restarts it after every kill. */
export const startSharedDatabase = async (
  folder: string,
): Promise<{ server: EmbeddedPostgres; cluster: string }> => {
  const data = join(folder, 'database')
  mkdirSync(data)
  return { server: await startEmbedded(data), cluster: prepareFolders(data).cluster }
}

export const urlOf = ({ host, port, user, database }: EmbeddedPostgres['connection']): string =>
  `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`

/** If the postmaster is gone, the kill strikes a service. */
const strike = (kill: Kill, services: readonly KeptService[], cluster: string): boolean => {
  if (kill.victim === 'postgres' && killPostmaster(cluster)) return true
  return services[kill.service % services.length]?.kill() ?? false
}

const killPostmaster = (cluster: string): boolean => {
  try {
    const pid = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0])
    // The file outlives its process: the pid may belong to another process by now.
    const command = execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
    return command.includes(cluster) && process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
