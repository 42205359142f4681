import type { Config } from '../config/read-config.ts'
import { openStore, type Store } from '../database/open-store.ts'
import { countOrganizations, decideModes } from '../domains/organizations/organization-store.ts'
import type { LiveLack } from '../domains/organizations/organization-mode.ts'
import { readPrices } from '../domains/results/read-prices.ts'
import { httpOrigin } from '../http/http-origin.ts'
import { storeReadiness } from '../http/store-readiness.ts'
import { openIdentity } from '../identity/open-identity.ts'
import { createSecretBox } from '../domains/organizations/secret-box.ts'
import { publishEnvironmentTrunk } from '../domains/trunks/environment-trunk.ts'
import { hasAnyNumber } from '../domains/numbers/number-store.ts'
import { countTrunks } from '../domains/trunks/trunk-store.ts'
import {
  describeEnvironmentTrunk,
  modeBeside,
  nameTrunks,
  sandboxPortBeside,
} from '../live-call/trunks/environment.ts'
import { liveLacks } from '../live-call/call/live-lacks.ts'
import { encodingTaskOf, openSpoolFolder } from '../live-call/recording/spool-location.ts'
import { phoneMetadata } from '../numbering/phone-metadata.ts'
import { explainStartError } from '../operator/explain-start-error.ts'
import { prepareFirstAdmin } from '../operator/first-admin.ts'
import { prepareFirstStart, type FirstStart } from '../operator/first-start.ts'
import { testTrunk } from '../operator/test-trunk.ts'
import { tryPortsOfFirstStart } from '../operator/port-trials.ts'
import { readEnvironmentTrunk } from '../telephony/telephony.ts'
import { systemTime } from '../runtime/time.ts'
import type { Logger } from '../runtime/logger.ts'
import { LoggedTelemetry } from '../runtime/telemetry.ts'
import { openMetrics, type Metrics } from '../operator/metrics/metrics.ts'
import { createServiceGroup, type ServiceGroup } from '../runtime/service-group.ts'
import { endCall } from './call-end.ts'
import { dashboardOrigins } from './dashboard-origins.ts'
import { createApiRole } from './roles/api.ts'
import { createHealth } from '../operator/health/installation-health.ts'
import { createDashboardBuild } from '../operator/dashboard-build.ts'
import { createDashboardRole } from './roles/dashboard.ts'
import { createDispatcherRole } from './roles/dispatcher.ts'
import { createDownloads } from './roles/downloads.ts'
import { createMediaRole } from './roles/media.ts'
import { createWorkerRole } from './roles/worker.ts'

export interface RunningOutdial {
  readonly apiUrl: string
  readonly mediaUrl: string
  readonly dashboardUrl: string
  /** Where the first owner is made; undefined once one stands. */
  readonly setupUrl: string | undefined
  /** The trunk for calls of live organizations. Calls of sandbox organizations go to the sandbox carrier. */
  readonly trunkName: string | undefined
  /** What is missing for calls of live organizations, which wait for it. */
  readonly lacks: readonly LiveLack[]
  readonly liveOrganizations: number
  /** Present if this start created the sandbox organization. */
  readonly firstStart: FirstStart | undefined
  /** The number of live calls of this process. */
  readonly liveCalls: () => number
  /**
   * Stops claiming, lets live calls continue for up to `limitMs` or until `cutShort`, ends the rest with BYE, and stops
   * every service. The API reads and accepts until then (D3).
   */
  stop(limitMs: number, cutShort: AbortSignal): Promise<void>
}

/**
 * Starts every role in one process. Stops the services already started when a later one fails. `onTakingWork` is called
 * before the first call can be dialled: from then on a process that ends at once would leave callees on the line.
 */
export const startAllInOne = async (
  config: Config,
  logger: Logger,
  onTakingWork: () => void,
): Promise<RunningOutdial> => {
  const services = createServiceGroup(logger)
  const logged = new LoggedTelemetry(logger, systemTime)
  services.add(logged)
  const metrics = openMetrics(config, logged)
  try {
    await tryPortsOfFirstStart(config)
    const store = await openStore(config.store, 'service', logger)
    services.add(store)
    logger.info({}, 'the database is ready')
    const roles = await createRoles(config, store, logger, metrics)
    await startRoles(roles, services, store, logger, onTakingWork)
    // The key is printed once, so a start that fails must not create it.
    const firstStart = await prepareFirstStart(store.database)
    const setupSecret = await prepareFirstAdmin(store.database, roles.identity, config.admin)
    roles.state.hasStarted = true
    return await describe(roles, services, store, { firstStart, setupSecret })
  } catch (error) {
    await services.stop()
    throw explainStartError(error, config)
  }
}

type Roles = Awaited<ReturnType<typeof createRoles>>

const createRoles = async (config: Config, store: Store, logger: Logger, metrics: Metrics) => {
  const { telemetry } = metrics
  // Loaded at start, because loading takes time that a live call does not have.
  phoneMetadata()
  const { database } = store
  const time = systemTime
  const spoolFolder = openSpoolFolder(config.store.dataFolder)
  const encodingTask = encodingTaskOf(spoolFolder)
  const prices = readPrices(config.program.pricesFile)
  const environment = readEnvironmentTrunk(config.sip)
  await publishEnvironmentTrunk(database, describeEnvironmentTrunk(environment, config.dialing))
  const trunks = await countTrunks(database)
  const hasNumbers = await hasAnyNumber(database)
  const lacks = liveLacks({ ...config.sip, trunks, hasNumbers, engines: config.engines })
  const state = { hasStarted: false, isDraining: false }
  const downloads = await createDownloads(config, database, time, logger)
  const spool = { spoolFolder, encodingTask, prices }
  const box = createSecretBox({ ...config.program, ...config.store })
  const media = createMediaRole({
    config,
    database,
    box,
    environment,
    sandboxPort: sandboxPortBeside(trunks, config.sip),
    ...spool,
    clock: time,
    logger,
    telemetry,
  })
  const dispatching = createDispatcherRole({
    config,
    store,
    media,
    lacks,
    time,
    logger,
    telemetry,
  })
  const worker = createWorkerRole({
    config,
    store,
    storage: downloads.storage,
    ...spool,
    logger,
    telemetry,
  })
  const exporter = metrics.createServer({
    database,
    liveCalls: () => dispatching.dispatcher.liveCalls(),
    mediaCapacity: media.capacity,
    tickLatenessMs: media.tickLatenessMs,
    logger,
  })
  const { host, apiPort, publicApiUrl, trustedProxies } = config.http
  const apiUrl = (): string => publicApiUrl ?? httpOrigin(host, api.port)
  const origins = () =>
    dashboardOrigins({ publicUrl: config.http.publicDashboardUrl, host, port: dashboard.port })
  const identity = openIdentity(database)
  const api = await createApiRole({
    database,
    host,
    port: apiPort,
    publicUrl: apiUrl,
    sharesAllowances: config.store.databaseUrl !== undefined,
    endCall,
    downloadUrls: { signDownloadUrl: downloads.signUrl, clock: time },
    trustedProxies,
    dashboardOrigins: origins,
    isDraining: () => state.isDraining,
    readiness: () => storeReadiness(store, state.hasStarted),
    clock: time,
    logger,
    telemetry,
    requestLogDays: config.http.requestLogDays,
  })
  const application = createDashboardBuild(logger)
  const dashboard = await createDashboardRole({
    database,
    identity,
    apiUrl,
    trunks: { box, test: (db, name) => testTrunk(db, box, config.sip, name) },
    health: createHealth({ config, database, clock: time }),
    application: application.pages,
    host,
    port: config.http.dashboardPort,
    origins,
    endCall,
    downloadUrls: { signDownloadUrl: downloads.signUrl, clock: time },
    storage: downloads.storage,
    mediaOrigin: () => new URL(downloads.publicUrl()).origin,
    live: media.live,
    talks: media.talks,
    trustedProxies,
    isDraining: () => state.isDraining,
    readiness: () => storeReadiness(store, state.hasStarted),
    clock: time,
    logger,
  })
  return {
    api,
    apiUrl,
    dashboard,
    application,
    origins,
    identity,
    downloads,
    media,
    dispatching,
    worker,
    exporter,
    lacks,
    trunks,
    state,
  }
}

/** Dispatch starts last, because a start that fails must not have dialled anybody. */
const startRoles = async (
  { api, application, dashboard, downloads, media, dispatching, worker, exporter, trunks }: Roles,
  services: ServiceGroup,
  { database }: Store,
  logger: Logger,
  onTakingWork: () => void,
): Promise<void> => {
  await services.run(...media.services)
  await services.run(media.fleet)
  logger.info({}, 'telephony and media threads are ready')
  await services.run(downloads.keys, downloads.server, exporter, api, dashboard)
  logger.info({}, 'HTTP is ready')
  await decideModes(database, modeBeside(trunks))
  onTakingWork()
  await services.run(...dispatching.services, ...worker)
  // A build has the machine's spare time once everything else stands.
  await services.run(application)
}

/** What a start made and tells once. */
interface MadeAtStart {
  readonly firstStart: FirstStart | undefined
  readonly setupSecret: string | undefined
}

const describe = async (
  { apiUrl, origins, downloads, media, dispatching, lacks, state }: Roles,
  services: ServiceGroup,
  { database }: Store,
  { firstStart, setupSecret }: MadeAtStart,
): Promise<RunningOutdial> => ({
  apiUrl: apiUrl(),
  mediaUrl: downloads.publicUrl(),
  dashboardUrl: origins()[0],
  setupUrl: setupSecret === undefined ? undefined : `${origins()[0]}/setup#${setupSecret}`,
  trunkName: nameTrunks(media.fleet.served()),
  lacks,
  liveOrganizations: await countOrganizations(database, 'live'),
  firstStart,
  liveCalls: () => dispatching.dispatcher.liveCalls(),
  stop: async (limitMs, cutShort) => {
    state.isDraining = true
    await dispatching.dispatcher.drain(limitMs, cutShort)
    await services.stop()
  },
})
