import type { BlockList } from 'node:net'
import { consoleOperations } from '../../contract/console/operations.ts'
import { noOrganization } from '../../contract/principal.ts'
import { consoleHandlers } from '../../console/handlers.ts'
import { createChangeFeed } from '../../console/live/change-feed.ts'
import { maskForViewers } from '../../console/mask.ts'
import type { Database } from '../../database/database.ts'
import type { EndCall } from '../../domains/calls/lifecycle/end-call.ts'
import { createStorageQuotas } from '../../domains/organizations/storage-quotas.ts'
import type { DownloadUrls } from '../../domains/recordings/recording-resource.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'
import { installationSecrets } from '../../domains/organizations/installation-secrets.ts'
import { createApiServer } from '../../http/api-server.ts'
import { withHeaders, type ApplicationPages } from '../../http/application-pages.ts'
import { createEventStreams } from '../../http/event-streams.ts'
import type { Readiness } from '../../http/readiness.ts'
import { authenticateVisits } from '../../identity/authenticate-session.ts'
import type { Identity } from '../../identity/identity.ts'
import { reprocessCallIn } from '../../operator/reprocess-call.ts'
import { systemTime, type Clock } from '../../runtime/time.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import { securityHeaders } from './security-headers.ts'

interface DashboardRoleOptions {
  readonly database: Database
  readonly identity: Identity
  /** The application that browsers load. */
  readonly application: Pick<ApplicationPages, 'find'>
  readonly host: string
  readonly port: number
  /** Where browsers reach it; the first is told in links. Asked once it listens. */
  readonly origins: () => readonly [string, ...string[]]
  readonly endCall: EndCall
  readonly downloadUrls: DownloadUrls
  /** Where recordings and their waveforms are. */
  readonly storage: Pick<ObjectStorage, 'open'>
  /** Where recordings are downloaded from. */
  readonly mediaOrigin: () => string
  readonly trustedProxies?: BlockList | undefined
  readonly isDraining: () => boolean
  readonly readiness: () => Promise<Readiness>
  readonly clock: Clock
  readonly logger: Logger
}

/** Below this are operations; every other path is one of the application's. */
const operationsPath = '/console/'
/** Server-sent events: what changes in the organization that a session looks at. */
const eventsPath = '/console/events'

/** The dashboard's role: sessions in, the operations of its own table out, through the kernel of the API. */
export const createDashboardRole = async (
  options: DashboardRoleOptions,
): Promise<Service & { readonly port: number }> => {
  const { database, identity, application, origins, logger } = options
  const headers = () => securityHeaders(options.mediaOrigin(), origins()[0])
  const [newest, ...older] = await installationSecrets(database, 'cursor')
  const quotas = createStorageQuotas({ database, clock: options.clock })
  const authenticate = authenticateVisits({ database, origins, logger })
  const feed = createChangeFeed({ database, time: systemTime, logger })
  const eventStreams = createEventStreams({
    ...options,
    path: eventsPath,
    authenticate,
    follow: feed.follow,
    furtherHeaders: headers,
  })
  const server = createApiServer({
    ...options,
    operations: consoleOperations,
    handlers: consoleHandlers,
    parts: {
      database,
      identity,
      origin: () => origins()[0],
      quotas,
      clock: options.clock,
      endCall: options.endCall,
      downloadUrls: options.downloadUrls,
      reprocessCall: reprocessCallIn,
      storage: options.storage,
    },
    storage: {
      prepare: (organizationId) =>
        organizationId === noOrganization ? undefined : quotas.prepare(organizationId),
      keepResponse: (organizationId) => quotas.take(organizationId, 'idempotency_answers', 1),
    },
    authenticate,
    eventStreams,
    cursorSecrets: [newest.secret, ...older.map(({ secret }) => secret)],
    present: maskForViewers,
    furtherHeaders: headers,
    application: (path) => {
      const page = path.startsWith(operationsPath) ? undefined : application.find(path)
      return page && withHeaders(page, headers())
    },
  })
  return {
    get port() {
      return server.port
    },
    start: async () => {
      await feed.start()
      await server.start()
    },
    stop: async () => {
      eventStreams.stop()
      await server.stop()
      await feed.stop()
    },
  }
}
