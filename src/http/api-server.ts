import type { RequestListener } from 'node:http'
import type { BlockList } from 'node:net'
import type { KeepRequest } from '../contract/answered-request.ts'
import type { Handlers, Operations } from '../contract/define-operation.ts'
import { rateWindowSeconds } from '../contract/buckets.ts'
import type { Authenticator } from '../contract/principal.ts'
import type { Database, Queryable, Transaction } from '../database/database.ts'
import { systemTime, type Clock } from '../runtime/time.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import { silentTelemetry, type Telemetry } from '../runtime/telemetry.ts'
import { trustNetworks } from './connections/client-address.ts'
import { createCursors } from './cursors.ts'
import { createFixedWindows } from './rate-limits/fixed-windows.ts'
import { createKernel, type ServedRequest, type Kernel } from './kernel.ts'
import { createHttpServer } from './connections/http-server.ts'
import { jsonPage, servePage, type WebPage, type Pages } from './pages.ts'
import { respondToParserFaults } from './connections/parser-faults.ts'
import { splitTarget } from './request-target.ts'
import type { EventStreams } from './event-streams.ts'
import { rarely, type Readiness } from './readiness.ts'
import type { WebSockets } from './web-sockets.ts'
import { createRouter, type ClosedArea } from './router.ts'
import { guardAnonymous } from './steps/anonymous-guard.ts'
import type { RateWindows } from './steps/rate-limit.ts'
import {
  unguardedStorage,
  type AnyHandler,
  type Present,
  type StorageGuard,
} from './steps/run-operation.ts'

export interface ApiServerOptions<Table extends Operations, Parts = unknown> {
  readonly operations: Table
  readonly handlers: Handlers<Table, Queryable, Transaction, Parts>
  /** Passed to each handler. */
  readonly parts: Parts
  /** Paths without an operation here that only administrators may use. */
  readonly closedAreas?: readonly ClosedArea[]
  readonly database: Database
  /** Authenticates the sender of a request. */
  readonly authenticate: Authenticator
  /** Newest first: the first signs, the others still verify. */
  readonly cursorSecrets: readonly [Buffer, ...Buffer[]]
  readonly logger: Logger
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /**
   * Addresses and networks of proxies: their report of the client's address counts, and their connections have no
   * cap.
   */
  readonly trustedProxies?: BlockList | undefined
  /** Connections that one other address may have open. */
  readonly maxConnectionsPerAddress?: number
  readonly isDraining: () => boolean
  readonly readiness: () => Promise<Readiness>
  readonly storage?: StorageGuard
  /** Takes out of each answer what its caller may not see; by default nothing. */
  readonly present?: Present
  /** Of every answer, as names and values in turn. */
  readonly furtherHeaders?: () => readonly string[]
  /** Further pages without a key, such as the documentation. */
  readonly pages?: Pages
  /** The page at a path that is none of these: of an application whose paths are not known here. */
  readonly application?: (path: string) => WebPage | undefined
  /** WebSockets beside the operations. */
  readonly webSockets?: Pick<WebSockets, 'takes' | 'onUpgrade'>
  /** Streams beside the operations. */
  readonly eventStreams?: Pick<EventStreams, 'serves' | 'serve'>
  /** Counts requests; by default in this process's memory, which suits one node. */
  readonly rateWindows?: RateWindows
  /** Failed authentications per address and minute before the response is 429. */
  readonly anonymousLimit?: number
  readonly clock?: Clock
  /** Checks every 2xx against its schema: for tests and development. */
  readonly checkResponses?: boolean
  readonly telemetry?: Telemetry
  readonly onServed?: (served: ServedRequest) => void
  /** Is told of every request of a key, once it is answered; by default nothing is. */
  readonly keepRequest?: KeepRequest | undefined
}

const defaultAnonymousLimit = 3000
/** Addresses, and buckets of organizations and keys, that are counted at one time. */
const maxCountedAddresses = 100_000
const maxCountedBuckets = 1_000_000

/** Serves a table of operations over HTTP. It has no global state: several can run in one process. */
export const createApiServer = <Table extends Operations, Parts>(
  options: ApiServerOptions<Table, Parts>,
): Service & { readonly port: number } => {
  const router = createRouter(options.operations, options.closedAreas ?? [])
  const pages = new Map([...standingPages(options), ...(options.pages ?? [])])
  const kernel = createKernel({ ...kernelParts(options), router })
  const listener = createHttpServer(options, {
    onRequest: serve(pages, kernel, options),
    refuse: (request, response, fault) => kernel.refuse(request, response, fault),
    upgrades: options.webSockets,
  })
  respondToParserFaults(listener.server, kernel)
  return listener
}

const kernelParts = <Table extends Operations, Parts>(options: ApiServerOptions<Table, Parts>) => {
  const { clock = systemTime } = options
  const windows = (maxKeys: number) =>
    createFixedWindows({ clock, windowSeconds: rateWindowSeconds, maxKeys })
  return {
    // The table's types tie each handler to its operation; the kernel ties them by the same name.
    handlers: options.handlers as unknown as Readonly<Record<string, AnyHandler>>,
    handlerParts: options.parts,
    database: options.database,
    authenticate: options.authenticate,
    rateWindows: options.rateWindows ?? windows(maxCountedBuckets),
    guardAnonymous: guardAnonymous(
      windows(maxCountedAddresses),
      options.anonymousLimit ?? defaultAnonymousLimit,
    ),
    isTrustedProxy: trustNetworks(options.trustedProxies),
    cursors: createCursors(options.cursorSecrets),
    storage: options.storage ?? unguardedStorage,
    present: options.present ?? whole,
    furtherHeaders: options.furtherHeaders ?? none,
    clock,
    logger: options.logger,
    isDraining: options.isDraining,
    checkResponses: options.checkResponses ?? false,
    onServed: noteServed(options),
    keepRequest: options.keepRequest,
  }
}

const none = (): readonly string[] => []

const whole: Present = (_principal, body) => body

const noteServed = ({
  telemetry = silentTelemetry,
  logger,
  onServed,
}: Pick<ApiServerOptions<Operations>, 'telemetry' | 'logger' | 'onServed'>) => {
  const note = onServed ?? ((served: ServedRequest) => logger.debug(served, 'request answered'))
  return (served: ServedRequest): void => {
    const { operation = 'none', status, durationMs } = served
    telemetry.count('outdial_http_requests_total', { operation, status })
    telemetry.observe('outdial_http_request_seconds', durationMs / 1000, { operation })
    note(served)
  }
}

const healthy = jsonPage({ status: 'ok' })

const standingPages = ({
  isDraining,
  readiness,
  clock = systemTime,
}: Pick<ApiServerOptions<Operations>, 'isDraining' | 'readiness' | 'clock'>): Pages => {
  const look = rarely(readiness, clock)
  return new Map<string, WebPage>([
    ['/healthz', () => healthy],
    [
      '/readyz',
      async () => {
        if (isDraining()) return jsonPage({ status: 'draining' }, 503)
        const { isReady, checks } = await look()
        return jsonPage({ status: isReady ? 'ready' : 'not_ready', checks }, isReady ? 200 : 503)
      },
    ],
  ])
}

const serve =
  (
    pages: Pages,
    kernel: Kernel,
    {
      application,
      eventStreams,
      logger,
    }: Pick<ApiServerOptions<Operations>, 'application' | 'eventStreams' | 'logger'>,
  ): RequestListener =>
  (request, response) => {
    const { path } = splitTarget(request.url ?? '')
    const page = pages.get(path) ?? application?.(path)
    const served = eventStreams?.serves(request, path)
      ? eventStreams.serve(request, response)
      : page
        ? servePage(page, request, response, logger)
        : kernel.serve(request, response)
    served.catch((error: unknown) => {
      logger.error({ err: error }, 'answer failed')
      response.destroy()
    })
  }
