import type { Config } from '../../config/read-config.ts'
import type { Store } from '../../database/open-store.ts'
import { createAutomationRunner } from '../../dispatch/automations/runner.ts'
import { Dispatcher } from '../../dispatch/dispatcher.ts'
import { LeaseKeeper } from '../../dispatch/lease/lease-keeper.ts'
import { nodeName } from '../../dispatch/lease/node-name.ts'
import { createTrunkDesk } from '../../dispatch/pacing/trunk-desk.ts'
import { createRegistrationReport } from '../../dispatch/pacing/registration-report.ts'
import { servedRoutes } from '../../dispatch/pacing/served-routes.ts'
import type { LiveLack } from '../../domains/organizations/organization-mode.ts'
import { canServeLive } from '../../live-call/call/choose-engine.ts'
import { nodeSettings } from '../../operator/doctor/node-settings.ts'
import type { Time } from '../../runtime/time.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import type { Service } from '../../runtime/service.ts'
import { endCall } from '../call-end.ts'
import type { MediaRole } from './media.ts'

interface DispatcherRoleOptions {
  readonly config: Pick<Config, 'http' | 'sip' | 'dialing' | 'engines'>
  readonly store: Store
  readonly media: MediaRole
  readonly lacks: readonly LiveLack[]
  readonly time: Time
  readonly logger: Logger
  readonly telemetry: Telemetry
}

interface DispatcherRole {
  readonly dispatcher: Dispatcher
  readonly services: readonly Service[]
}

/** The dispatcher role: decides when queued calls and Automation runs continue. */
export const createDispatcherRole = (options: DispatcherRoleOptions): DispatcherRole => {
  const { config, store, media, lacks, time, logger } = options
  const { database, connection } = store
  const dispatcher = new Dispatcher({
    database,
    prepareCall: media.prepareCall,
    endCall,
    nodeId: nodeName(),
    maxChannels: config.dialing.maxChannels,
    settings: nodeSettings(config),
    mediaCapacity: media.capacity,
    routes: servedRoutes(config.dialing.callsPerSecond),
    trunks: createTrunkDesk({
      database,
      served: (like) => media.fleet.served(like),
      callerId: config.sip.callerId,
      time,
      logger,
    }),
    lacks,
    hasLiveEngine: (engine, organizationId) =>
      canServeLive(media.engineFor, engine, organizationId),
    leaseKeeper: new LeaseKeeper({ connection, logger }),
    time,
    logger,
    telemetry: options.telemetry,
  })
  const registrations = createRegistrationReport({
    database,
    nodeId: () => dispatcher.nodeId(),
    registrations: () => media.fleet.registrations(),
    logger,
  })
  const automations = createAutomationRunner({ database, endCall, logger })
  return { dispatcher, services: [dispatcher, media.watch, registrations, automations] }
}
