import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer, type RawData, type WebSocket } from 'ws'
import { ApiError } from '../contract/api-error.ts'
import type { Authenticator, SessionPrincipal } from '../contract/principal.ts'
import type { Logger } from '../runtime/logger.ts'
import { soleHeader } from './connections/request-head.ts'
import type { Upgrades } from './connections/http-server.ts'
import { errorReply, faultReply } from './reply.ts'
import { splitTarget } from './request-target.ts'
import { readRequestId } from './steps/request-id.ts'

/** A browser at the other end. */
interface Peer {
  readonly principal: SessionPrincipal
  /** Sends, or drops it where the browser reads too slowly. */
  readonly send: (data: Uint8Array | string) => void
  /** RFC 6455 section 7.4: 1000 for an end as it should be, 4000 and above for reasons of ours. */
  readonly close: (code: number, reason: string) => void
}

/** What is done with a connection; called once it stands. */
type OnOpen = (peer: Peer) => PeerListener

interface PeerListener {
  readonly onBytes: (bytes: Uint8Array) => void
  readonly onClose: () => void
}

interface WebSocketsOptions {
  readonly path: string
  readonly authenticate: Authenticator
  /** Decides before the upgrade, by the ticket in the address. Throws `ApiError`. */
  readonly admit: (principal: SessionPrincipal, ticket: string) => OnOpen
  readonly isDraining: () => boolean
  readonly logger: Logger
}

export interface WebSockets extends Upgrades {
  /** Ends every connection. */
  readonly stop: () => void
}

/** Connections of all browsers together. */
const maxConnections = 200
/** Sixteen frames of G.711. */
const maxMessageBytes = 2_560
/** Four times what a microphone sends. */
const maxMessagesPerSecond = 200
/** Four seconds of two lanes: a browser that reads no faster loses what comes meanwhile. */
const maxUnsentBytes = 64 * 1024
const pingMs = 15_000
const closeMs = 1_000

const policyViolation = 1008
const goingAway = 1001

/**
 * WebSockets (RFC 6455) of sessions. The Origin is required, because browsers send cookies with the handshake of any page.
 */
export const createWebSockets = (options: WebSocketsOptions): WebSockets => {
  const { path, authenticate, admit, isDraining, logger } = options
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    clientTracking: true,
  })

  const enter = async (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> => {
    const principal = await authenticate({
      // As a change: it needs the Origin.
      method: 'POST',
      connection: socket,
      header: (name) => soleHeader(request, name),
      isHeldUp: () => false,
    })
    if (principal.kind !== 'session')
      throw new ApiError('authentication_required', 'Sign in to listen or talk.')
    if (server.clients.size >= maxConnections || isDraining())
      throw new ApiError('rate_limit_exceeded', 'Too many connections are open.', undefined, {
        retryAfterSeconds: 30,
      })
    const ticket = new URLSearchParams(splitTarget(request.url ?? '').query).get('ticket') ?? ''
    const onOpen = admit(principal, ticket)
    if (socket.destroyed) return
    server.handleUpgrade(request, socket, head, (webSocket) => attend(webSocket, principal, onOpen))
  }

  return {
    takes: (request) =>
      request.method === 'GET' &&
      splitTarget(request.url ?? '').path === path &&
      request.headers.upgrade?.toLowerCase() === 'websocket',
    onUpgrade: (request, socket, head) => {
      const abandon = (): void => void socket.destroy()
      socket.on('error', abandon)
      enter(request, socket, head)
        .catch((error: unknown) => {
          const requestId = readRequestId(request)
          if (!(error instanceof ApiError))
            logger.error({ requestId, err: error }, 'web socket failed')
          refuse(
            socket,
            error instanceof ApiError ? errorReply(error, requestId) : faultReply(requestId),
          )
        })
        .finally(() => socket.off('error', abandon))
    },
    stop: () => {
      for (const client of server.clients) {
        client.close(goingAway, 'The service stops.')
        client.terminate()
      }
    },
  }
}

const refuse = (socket: Socket, { status, body }: { status: number; body: string | Buffer }) => {
  if (socket.destroyed) return
  socket.on('error', () => undefined)
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body.toString()}`,
  )
  // It may go on sending: nothing of it is read.
  socket.destroySoon()
}

/** Serves one connection, with limits on what it sends and on what waits for it. */
const attend = (webSocket: WebSocket, principal: SessionPrincipal, onOpen: OnOpen): void => {
  let isAlive = true
  let messages = 0
  const heartbeat = setInterval(() => {
    if (!isAlive) return webSocket.terminate()
    isAlive = false
    webSocket.ping()
  }, pingMs)
  const window = setInterval(() => {
    messages = 0
  }, 1_000)
  const listener = onOpen({
    principal,
    send: (data) => {
      const isOpen = webSocket.readyState === webSocket.OPEN
      if (isOpen && webSocket.bufferedAmount <= maxUnsentBytes) webSocket.send(data)
    },
    close: (code, reason) => {
      webSocket.close(code, reason)
      // One that does not answer the close is cut off.
      setTimeout(() => webSocket.terminate(), closeMs).unref()
    },
  })
  webSocket.on('pong', () => {
    isAlive = true
  })
  webSocket.on('message', (data: RawData, isBinary) => {
    messages += 1
    if (!isBinary || !Buffer.isBuffer(data) || messages > maxMessagesPerSecond)
      return webSocket.close(policyViolation, 'Only audio is taken here, at its own pace.')
    listener.onBytes(data)
  })
  // A broken frame; `close` follows.
  webSocket.on('error', () => undefined)
  webSocket.once('close', () => {
    clearInterval(heartbeat)
    clearInterval(window)
    listener.onClose()
  })
}
