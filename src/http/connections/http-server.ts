import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, BlockList, Socket } from 'node:net'
import type { ApiError } from '../../contract/api-error.ts'
import { parseNetworks } from '../../runtime/networks.ts'
import type { Service } from '../../runtime/service.ts'
import { trustNetworks } from './client-address.ts'
import { capConnections } from './connections.ts'
import { framingFault } from './framing.ts'
import { serveOneAtATime } from './one-at-a-time.ts'
import { boundSlowReaders } from './slow-readers.ts'
import { breakBody } from '../steps/read-body.ts'

interface HttpServerOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** Addresses and networks of proxies: many clients come through each. */
  readonly trustedProxies?: BlockList | undefined
  /** Connections that one other address may have open. */
  readonly maxConnectionsPerAddress?: number
  readonly maxConnections?: number
  /** Responses are streams that wait for their reader: a slow one costs nothing, and is not cut off. */
  readonly isStreaming?: boolean
}

interface HttpServerHandlers {
  readonly onRequest: RequestListener
  /** Refuses a request with an ambiguous end. Its connection must not be kept. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, fault: ApiError) => void
  /** Connections that may change to another protocol; by default none does. */
  readonly upgrades?: Upgrades | undefined
}

export interface Upgrades {
  /** Whether a request that asks for an upgrade gets it; else it is served as any other. */
  readonly takes: (request: IncomingMessage) => boolean
  /** `head`: what was read behind the request. */
  readonly onUpgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => void
}

interface HttpServer extends Service {
  readonly server: Server
  /** The port that was bound; 0 before `start`. */
  readonly port: number
}

const maxHeaderBytes = 16_384
const headersTimeoutMs = 10_000
const requestTimeoutMs = 30_000
/** How often both are looked at. */
const timeoutCheckMs = 2_000
/** Longer than the idle timeout of common proxies, so that they close first. */
const keepAliveTimeoutMs = 65_000
const defaultMaxConnections = 10_000
const defaultMaxConnectionsPerAddress = 1_000
/** Node turns away by itself what comes faster than connections at the cap close. */
const spareConnections = 1_000
/** A proxy of this machine; an address that only the machine itself can come from. */
const isLocalProxy = trustNetworks(parseNetworks('127.0.0.1,::1'))
/** How long `stop` lets running requests end. */
const stopTimeoutMs = 10_000
/** How often `stop` looks for connections that have become idle. */
const idleCheckMs = 10

/**
 * An HTTP server with limits on everything a stranger can hold open: connections, requests per connection, unread
 * responses. Active requests end before `stop` resolves.
 */
export const createHttpServer = (
  options: HttpServerOptions,
  handlers: HttpServerHandlers,
): HttpServer => {
  let started: Promise<void> | undefined
  let stopped: Promise<void> | undefined
  const { upgrades } = handlers
  const server = createServer({
    ...serverOptions,
    shouldUpgradeCallback: (request) => upgrades?.takes(request) ?? false,
  })
  // Beyond its default Node drops headers in silence, a second Authorization among them; the bytes are bounded.
  server.maxHeadersCount = 0
  const { maxConnections = defaultMaxConnections } = options
  server.maxConnections = maxConnections + spareConnections
  const { stopReading, release } = serveOneAtATime(server)
  const slowReaders = options.isStreaming ? undefined : boundSlowReaders(server)
  const isTrustedProxy = trustNetworks(options.trustedProxies)
  const { keepBusy } = capConnections(server, {
    perAddress: options.maxConnectionsPerAddress ?? defaultMaxConnectionsPerAddress,
    total: maxConnections,
    isProxy: (address) => isLocalProxy(address) || isTrustedProxy(address),
    cutSlowReader: () => slowReaders?.cutOldest() ?? false,
  })
  if (upgrades)
    server.on('upgrade', (request, _socket, head) => {
      const { socket } = request
      keepBusy(socket)
      upgrades.onUpgrade(request, socket, Buffer.concat([head, release(socket)]))
    })
  const onRequest: RequestListener = (request, response) => {
    const fault = framingFault(request)
    if (!fault) return handlers.onRequest(request, response)
    stopReading(request.socket)
    breakBody(request)
    handlers.refuse(request, response, fault)
  }
  // By default Node would respond to the latter two itself: a foreign 417, and a 100 before the body's size was
  // checked.
  server.on('request', onRequest).on('checkExpectation', onRequest).on('checkContinue', onRequest)
  return {
    server,
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? 0
    },
    start: () => (started ??= listen(server, options)),
    stop: () => (stopped ??= close(server).finally(() => slowReaders?.stop())),
  }
}

const serverOptions: ServerOptions = {
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: headersTimeoutMs,
  requestTimeout: requestTimeoutMs,
  connectionsCheckingInterval: timeoutCheckMs,
  keepAliveTimeout: keepAliveTimeoutMs,
  // A missing Host is refused in the kernel, in our envelope.
  requireHostHeader: false,
}

const listen = (server: Server, { host, port }: HttpServerOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    if (!server.listening) return resolve()
    const timer = setTimeout(() => server.closeAllConnections(), stopTimeoutMs)
    // A connection that was busy when `stop` came is closed after its response.
    const idleTimer = setInterval(() => server.closeIdleConnections(), idleCheckMs)
    server.close(() => {
      clearTimeout(timer)
      clearInterval(idleTimer)
      resolve()
    })
    server.closeIdleConnections()
  })
