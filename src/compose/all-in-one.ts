import { existsSync } from 'node:fs'
import { hostname, availableParallelism } from 'node:os'
import type { Config } from '../config/read-config.ts'
import { createAutomationRunner } from '../dispatch/automations/runner.ts'
import type { ServedRoute } from '../dispatch/pacing/route-pacing.ts'
import { Dispatcher } from '../dispatch/dispatcher.ts'
import { LeaseKeeper } from '../dispatch/lease/lease-keeper.ts'
import { clusterOf } from '../database/embedded-folders.ts'
import { isRetryable } from '../database/errors.ts'
import { systemTime } from '../runtime/time.ts'
import { phoneMetadata } from '../numbering/phone-metadata.ts'
import { countOrganizations, decideModes } from '../domains/organizations/organization-store.ts'
import type { Logger } from '../runtime/logger.ts'
import { makeFolder } from '../runtime/make-folder.ts'
import type { Service } from '../runtime/service.ts'
import { within } from '../runtime/within.ts'
import { createApiRole } from './api.ts'
import { prepareFirstStart, type FirstStart } from '../operator/first-start.ts'
import { createLiveCallParts } from './live-calls.ts'
import { createDownloads } from './downloads.ts'
import { openStore, type Store } from '../database/open-store.ts'
import { httpOrigin } from '../http/http-origin.ts'
import { portTrials } from '../operator/port-trials.ts'
import { explainStartError } from '../operator/explain-start-error.ts'
import { spoolFolderOf } from '../live-call/recording/spool-location.ts'
import { createTelephony } from '../telephony/telephony.ts'
import { createScriptedRealtimeServer } from '../conversation/engines/scripted/scripted-realtime-server.ts'
import { personaVocabulary } from '../telephony/sandbox/personas.ts'
import { createEngineChoice } from '../live-call/call/choose-engine.ts'
import { nodeSettings } from '../operator/doctor/node-settings.ts'
import { liveLacks } from '../live-call/call/live-lacks.ts'
import type { LiveLack } from '../domains/organizations/organization-mode.ts'

export interface RunningOutdial {
  readonly apiUrl: string
  readonly mediaUrl: string
  /** Where calls of live organizations go; those of sandbox ones go to the sandbox carrier. */
  readonly trunkName: string | undefined
  /** What calls of live organizations lack, so that they wait. */
  readonly lacks: readonly LiveLack[]
  readonly liveOrganizations: number
  /** Present when this start made the sandbox organization. */
  readonly firstStart: FirstStart | undefined
  /** Calls that this process holds. */
  readonly liveCalls: () => number
  /**
   * Claims nothing more, lets live calls go on for up to `limitMs`, or until `cutShort`, ends the rest with BYE, and lets
   * go of everything. The API reads and accepts until then (D3).
   */
  stop(limitMs: number, cutShort: AbortSignal): Promise<void>
}

/** Calls to people come first: what a developer tries must not keep them from being placed. */
const servedRoutes = (config: Config, servesLive: boolean): readonly ServedRoute[] => [
  ...(servesLive
    ? [
        {
          name: 'env' as const,
          callsPerSecond: config.dialing.callsPerSecond ?? defaultCallsPerSecond.trunk,
          ...(config.dialing.trunkChannels !== undefined && {
            channels: config.dialing.trunkChannels,
          }),
        },
      ]
    : []),
  {
    name: 'sandbox',
    callsPerSecond: config.dialing.callsPerSecond ?? defaultCallsPerSecond.sandbox,
  },
]

/** Calls per second that the sandbox takes; a trunk gets the modest rate that carriers sell. */
const defaultCallsPerSecond = { sandbox: 50, trunk: 10 } as const

/** No part may hang in silence: a start that takes longer is given up, and a part that does not stop is left. */
const startLimitMs = 60_000
const stopLimitMs = 30_000

/**
 * Every role in one process. What was started is stopped again when a later part cannot start. `onTakingWork` is called
 * before the first call can be dialled: from there on a process that just ends would leave people on the line.
 */
export const startAllInOne = async (
  config: Config,
  logger: Logger,
  onTakingWork: () => void,
): Promise<RunningOutdial> => {
  const started: (() => Promise<void>)[] = []
  const stopAll = async (): Promise<void> => {
    for (const stop of started.toReversed())
      await within(stopLimitMs, 'It took too long to stop.', stop()).catch((error: unknown) =>
        logger.warn({ err: error }, 'a part did not stop'),
      )
  }
  const run = async (...services: Service[]): Promise<void> => {
    for (const service of services) started.push(() => service.stop())
    const starting = startTogether(services)
    await within(startLimitMs, 'A part of the program did not start in time.', starting)
  }
  try {
    if (isFirstStart(config)) for (const { take } of portTrials(config)) await take()
    const store = await openStore(config.store, 'service', logger)
    started.push(() => store.stop())
    logger.info({}, 'the database is ready')
    return await startRoles(config, logger, store, { run, stopAll, onTakingWork })
  } catch (error) {
    await stopAll()
    throw explainStartError(error, config)
  }
}

/** To make a database takes a while: a taken port is told before. Later starts first see who uses the data folder. */
const isFirstStart = ({ store }: Config): boolean =>
  store.databaseUrl === undefined && !existsSync(clusterOf(store.dataFolder))

/** All have come to an end when one has failed: stopping what is still about to start would leave it running. */
const startTogether = async (services: readonly Service[]): Promise<void> => {
  const results = await Promise.allSettled(services.map((service) => service.start()))
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

interface Lifecycle {
  readonly run: (...services: Service[]) => Promise<void>
  readonly stopAll: () => Promise<void>
  readonly onTakingWork: () => void
}

const startRoles = async (
  config: Config,
  logger: Logger,
  store: Store,
  { run, stopAll, onTakingWork }: Lifecycle,
): Promise<RunningOutdial> => {
  const { database } = store
  const clock = systemTime
  // Now, rather than while the first number is judged and calls are held.
  phoneMetadata()
  const spoolFolder = spoolFolderOf(config.store.dataFolder)
  makeFolder(config.store.dataFolder)
  makeFolder(spoolFolder, 0o700)
  let isDraining = false
  let hasRoles = false

  const scripted = createScriptedRealtimeServer({ vocabulary: personaVocabulary, logger })
  const telephony = createTelephony(config.sip, logger)

  const downloads = await createDownloads(config, database, clock, logger)
  const engineFor = createEngineChoice({
    engines: config.engines,
    allowPrivateNetwork: config.program.allowPrivateNetwork,
    sandboxUrl: () => scripted.url,
  })
  const lacks = liveLacks({ ...config.sip, engines: config.engines })
  const live = createLiveCallParts({
    config,
    store,
    telephony,
    engineFor,
    spoolFolder,
    storage: downloads.storage,
    workers: Math.max(1, availableParallelism() - 1),
    clock,
    logger,
  })
  const dispatcher = new Dispatcher({
    database,
    prepareCall: live.prepareCall,
    endCall: live.endCall,
    nodeId: `${hostname()}-${process.pid}`,
    maxChannels: config.dialing.maxChannels,
    settings: nodeSettings(config),
    mediaCapacity: () => live.media.capacity(),
    routes: servedRoutes(config, live.servesLive),
    lacks,
    hasLiveEngine: (engine) =>
      typeof engineFor(engine === undefined ? {} : { engine }, 'live') === 'object',
    leaseKeeper: new LeaseKeeper({ connection: store.connection, logger }),
    time: clock,
    logger,
  })
  const automations = createAutomationRunner({
    database,
    endCall: live.endCall,
    logger,
  })
  const apiUrl = (): string => config.http.publicApiUrl ?? httpOrigin(config.http.host, api.port)
  const api = await createApiRole({
    database,
    host: config.http.host,
    port: config.http.apiPort,
    publicUrl: apiUrl,
    sharesAllowances: config.store.databaseUrl !== undefined,
    endCall: live.endCall,
    downloadUrls: { signDownloadUrl: (id, expiresAt) => downloads.signUrl(id, expiresAt), clock },
    trustedProxies: config.http.trustedProxies,
    isDraining: () => isDraining,
    readiness: () => readiness(store, hasRoles),
    clock,
    logger,
  })
  // Threads take their time to load; none needs another to begin.
  await run(scripted, telephony, live.media)
  logger.info({}, 'telephony and media threads are ready')
  // Work is taken last: a start that fails, for a taken port say, must not have dialled anybody.
  await run(downloads.keys, downloads.server, api)
  logger.info({}, 'HTTP is ready')
  await decideModes(database, telephony.trunk === undefined ? 'sandbox' : 'live')
  onTakingWork()
  await run(dispatcher, ...live.circuits, automations, live.jobs, live.sweeper)
  // Its key is told once, so that a start that fails must not have made it.
  const firstStart = await prepareFirstStart(database)
  hasRoles = true
  return {
    apiUrl: apiUrl(),
    mediaUrl: downloads.publicUrl(),
    trunkName: telephony.trunk?.name,
    lacks,
    liveOrganizations: await countOrganizations(database, 'live'),
    firstStart,
    liveCalls: () => dispatcher.liveCalls(),
    stop: async (limitMs, cutShort) => {
      isDraining = true
      await dispatcher.drain(limitMs, cutShort)
      await stopAll()
    },
  }
}

const readiness = async (store: Store, hasRoles: boolean) => {
  const roles = hasRoles ? 'ok' : 'starting'
  try {
    const pending = await store.pendingMigrations()
    const migrations = pending.length === 0 ? 'ok' : `${pending.length} missing`
    return {
      isReady: hasRoles && pending.length === 0,
      checks: { database: 'ok', migrations, roles },
    }
  } catch (error) {
    const word = isRetryable(error) ? 'unreachable' : 'failed'
    return { isReady: false, checks: { database: word, migrations: 'unknown', roles } }
  }
}
