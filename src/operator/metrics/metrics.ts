import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/read-config.ts'
import type { Database } from '../../database/database.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import { systemTime } from '../../runtime/time.ts'
import { readGauges, type GaugeValue } from './gauge-store.ts'
import { createMetricsServer } from './metrics-server.ts'
import { createPrometheusTelemetry, type PrometheusTelemetry } from './prometheus-telemetry.ts'

/** What a scrape reads of this node. */
interface NodeFigures {
  readonly database: Database
  readonly liveCalls: () => number
  readonly mediaCapacity: () => number
  readonly tickLatenessMs: () => number
  readonly logger: Logger
}

export interface Metrics {
  /** For the parts of the program. */
  readonly telemetry: Telemetry
  /** Without a port it opens nothing. */
  createServer(node: NodeFigures): Service
}

type MetricsConfig = Pick<Config, 'http' | 'dialing'>

/** The database is read at most this often, by any number of scrapes. */
const readIntervalMs = 1_000
/** A scrape that the database keeps waiting for longer leaves its figures out. */
const maxReadMs = 2_000

const nothing: Service = { start: async () => undefined, stop: async () => undefined }

/** The metrics of this process: `logged` alone, unless a port is set. */
export const openMetrics = (config: MetricsConfig, logged: Telemetry): Metrics => {
  const { metricsPort: port, metricsHost: host } = config.http
  if (port === undefined) return { telemetry: logged, createServer: () => nothing }
  const exported = createPrometheusTelemetry()
  return {
    telemetry: {
      count: (...counted) => {
        logged.count(...counted)
        exported.count(...counted)
      },
      observe: (...observed) => {
        logged.observe(...observed)
        exported.observe(...observed)
      },
    },
    createServer: (node) =>
      createMetricsServer({
        host,
        port,
        contentType: exported.registry.contentType,
        render: createRender(exported, config, node),
        logger: node.logger,
      }),
  }
}

const createRender = (
  exported: PrometheusTelemetry,
  { dialing }: MetricsConfig,
  node: NodeFigures,
): (() => Promise<string>) => {
  const version = programVersion()
  const shared = createShared(node)
  return async () => {
    const found = await shared()
    exported.setGauges([
      { name: 'outdial_build_info', labels: { version }, value: 1 },
      { name: 'outdial_scrape_complete', labels: {}, value: found === undefined ? 0 : 1 },
      { name: 'outdial_live_calls', labels: {}, value: node.liveCalls() },
      { name: 'outdial_channels_limit', labels: {}, value: dialing.maxChannels },
      { name: 'outdial_media_capacity_calls', labels: {}, value: node.mediaCapacity() },
      {
        name: 'outdial_media_tick_lateness_seconds',
        labels: {},
        value: node.tickLatenessMs() / 1000,
      },
      ...(found ?? []),
    ])
    return exported.registry.metrics()
  }
}

/** Reads at most once a second and one at a time; undefined if the database did not answer in time. */
const createShared = ({ database, logger }: NodeFigures) => {
  let latest: Promise<GaugeValue[] | undefined> | undefined
  let fromMs = 0
  let isReading = false
  const read = async (): Promise<GaugeValue[] | undefined> => {
    isReading = true
    try {
      return await readGauges(database)
    } catch (error) {
      logger.warn({ err: error }, 'the database gave no figures for the metrics')
      return undefined
    } finally {
      isReading = false
    }
  }
  return async (): Promise<GaugeValue[] | undefined> => {
    const nowMs = systemTime.monotonicMs()
    if (latest === undefined || (!isReading && nowMs - fromMs >= readIntervalMs)) {
      fromMs = nowMs
      latest = read()
    }
    const waited = new AbortController()
    const late = systemTime.sleep(maxReadMs, waited.signal).then(() => undefined)
    return Promise.race([latest, late]).finally(() => waited.abort())
  }
}

const programVersion = (): string => {
  const file = join(import.meta.dirname, '../../../package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
