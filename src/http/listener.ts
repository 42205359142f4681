import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Service } from '../runtime/service.ts'

export interface ListenerOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
}

export interface Listener extends Service {
  readonly server: Server
  /** The port that was bound; 0 before `start`. */
  readonly port: number
}

const maxHeaderBytes = 16_384
const headersTimeoutMs = 10_000
const requestTimeoutMs = 30_000
/** How often both are looked at. */
const timeoutCheckMs = 2_000
/** Longer than the idle timeout of common proxies, so that it is they who close. */
const keepAliveTimeoutMs = 65_000
const maxConnections = 10_000
/** How long `stop` lets running requests end. */
const stopTimeoutMs = 10_000
/** How often `stop` looks for connections that have become idle. */
const idleCheckMs = 10

/** An HTTP server with bounds on everything a stranger can hold open. Requests in flight end before `stop` resolves. */
export const createListener = (options: ListenerOptions, onRequest: RequestListener): Listener => {
  let started: Promise<void> | undefined
  let stopped: Promise<void> | undefined
  const server = createServer(serverOptions)
  // Beyond its default Node drops headers in silence, a second Authorization among them; the bytes are bounded.
  server.maxHeadersCount = 0
  server.maxConnections = maxConnections
  // Left alone, Node would answer the latter two itself: a foreign 417, and a 100 before the body's size was judged.
  server.on('request', onRequest).on('checkExpectation', onRequest).on('checkContinue', onRequest)
  return {
    server,
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? 0
    },
    start: () => (started ??= listen(server, options)),
    stop: () => (stopped ??= close(server)),
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

const listen = (server: Server, { host, port }: ListenerOptions): Promise<void> =>
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
    // A connection that was busy when `stop` came has nothing to wait for after its answer.
    const idleTimer = setInterval(() => server.closeIdleConnections(), idleCheckMs)
    server.close(() => {
      clearTimeout(timer)
      clearInterval(idleTimer)
      resolve()
    })
    server.closeIdleConnections()
  })
