import type { ConsoleParts } from '../../console/console-handler.ts'
import type { BlockList } from 'node:net'
import type { Health } from '../../contract/console/health.ts'
import { consoleOperations } from '../../contract/console/operations.ts'
import { noOrganization } from '../../contract/principal.ts'
import { consoleHandlers } from '../../console/handlers.ts'
import { createChangeFeed } from '../../console/live/change-feed.ts'
import type { LiveCalls } from '../../console/console-handler.ts'
import {
  createAudioDoors,
  type AudioPurpose,
  type SoundSource,
  type TalkSource,
} from '../../console/live/audio-doors.ts'
import { createTickets } from '../../console/live/tickets.ts'
import { createSessionWatch } from '../../console/live/session-watch.ts'
import type { WordsSource } from '../../console/live/words-feed.ts'
import { maskForViewers } from '../../console/mask.ts'
import type { Database } from '../../database/database.ts'
import type { EndCall } from '../../domains/calls/lifecycle/end-call.ts'
import { createStorageQuotas } from '../../domains/organizations/storage-quotas.ts'
import type { DownloadUrls } from '../../domains/recordings/recording-resource.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'
import { installationSecrets } from '../../domains/organizations/installation-secrets.ts'
import { createApiServer } from '../../http/api-server.ts'
import { withHeaders, type ApplicationPages } from '../../http/application-pages.ts'
import { createWebSockets } from '../../http/web-sockets.ts'
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
  /** What the installation is at. */
  readonly health: () => Promise<Health>
  /** Where programs reach the API. */
  readonly apiUrl: () => string
  readonly trunks: ConsoleParts['trunks']
  /** Where recordings and their waveforms are. */
  readonly storage: Pick<ObjectStorage, 'open'>
  /** Where recordings are downloaded from. */
  readonly mediaOrigin: () => string
  /** The conversations of this process. */
  readonly live: LiveCalls & WordsSource & SoundSource
  readonly talks: TalkSource
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
/** WebSockets: the sound of a call, and talks. */
const audioPath = '/console/audio'

/** The dashboard's role: sessions in, the operations of its own table out, through the kernel of the API. */
export const createDashboardRole = async (
  options: DashboardRoleOptions,
): Promise<Service & { readonly port: number }> => {
  const { database, identity, application, origins, logger } = options
  const headers = () => securityHeaders(options.mediaOrigin(), origins()[0])
  const [newest, ...older] = await installationSecrets(database, 'cursor')
  const quotas = createStorageQuotas({ database, clock: options.clock })
  const authenticate = authenticateVisits({ database, origins, logger })
  const sessions = createSessionWatch({ database, time: systemTime, logger })
  const { live } = options
  const feed = createChangeFeed({ database, sessions, words: live, time: systemTime, logger })
  const eventStreams = createEventStreams({
    ...options,
    path: eventsPath,
    authenticate,
    follow: feed.follow,
    furtherHeaders: headers,
  })
  const tickets = createTickets<AudioPurpose>(systemTime)
  const webSockets = createWebSockets({
    ...options,
    path: audioPath,
    authenticate,
    admit: createAudioDoors({ tickets, sounds: live, talks: options.talks, sessions }),
  })
  const server = createApiServer({
    ...options,
    operations: consoleOperations,
    handlers: consoleHandlers,
    parts: {
      database,
      identity,
      origin: () => origins()[0],
      apiUrl: options.apiUrl,
      health: options.health,
      quotas,
      clock: options.clock,
      logger,
      endCall: options.endCall,
      downloadUrls: options.downloadUrls,
      reprocessCall: reprocessCallIn,
      storage: options.storage,
      showToFollowers: feed.show,
      live,
      talks: options.talks,
      tickets,
      trunks: options.trunks,
    },
    storage: {
      prepare: (organizationId) =>
        organizationId === noOrganization ? undefined : quotas.prepare(organizationId),
      keepResponse: (organizationId) => quotas.take(organizationId, 'idempotency_answers', 1),
    },
    authenticate,
    eventStreams,
    webSockets,
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
      await sessions.start()
      await feed.start()
      await server.start()
    },
    stop: async () => {
      eventStreams.stop()
      webSockets.stop()
      await server.stop()
      await feed.stop()
      await sessions.stop()
    },
  }
}
