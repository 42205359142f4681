import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { lookupPublic, refusePrivateLiteral } from '../../../../runtime/public-lookup.ts'
import { ProviderError, refusalOf } from '../provider-error.ts'

/** A WebSocket to a provider of speech: sending, liveness, and its one end. */
export interface ProviderSocket {
  send(message: object): void
  sendBytes(bytes: Uint8Array): void
  /** Resolves when the server has answered a ping sent now. Rejects when the connection is lost before. */
  answersPing(): Promise<void>
  /** Nothing is reported after it. Sends `last`, and closes within a second. Safe twice. */
  close(last?: object): void
}

export interface SocketListener {
  onText(text: string): void
  onBytes?(bytes: Buffer): void
  /** Once, unless `close` came before. */
  onLost(error: ProviderError): void
}

interface SocketOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly publicHostsOnly: boolean
  /** Code of its errors: `transcription_failed` or `speech_failed`. */
  readonly code: string
  /** For the messages of its errors: `The transcriber`. */
  readonly who: string
  /** Sent while nothing else was sent for `everyMs`. */
  readonly keepAlive?: { readonly everyMs: number; readonly message: object | Uint8Array }
  readonly listener: SocketListener
}

const openLimitMs = 4_000
const pingPeriodMs = 5_000
const closeLimitMs = 1_000
const maxMessageBytes = 4 * 1024 * 1024
/** Half a minute of audio that the network did not take. */
const maxSendBufferBytes = 256 * 1024
const normalClosure = 1_000

/** Resolves with an open socket. Rejects with `ProviderError`, or with the signal's reason. */
export const openProviderSocket = async (
  options: SocketOptions,
  signal: AbortSignal,
): Promise<ProviderSocket> => {
  signal.throwIfAborted()
  const socket = connect(options)
  // Messages may come with the handshake, so their listeners are there before.
  const live = keepSocket(socket, options)
  const opened = Promise.withResolvers<void>()
  const fail = (error: ProviderError): void => opened.reject(error)
  const onAbort = (): void => opened.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  socket.once('open', () => opened.resolve())
  socket.on('unexpected-response', (_, response) => fail(refused(options, response)))
  // The listener stays: `terminate` may emit an error too.
  socket.on('error', (error) => fail(unreachable(options, error)))
  try {
    await opened.promise
    return live
  } catch (error) {
    live.close()
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

const connect = ({ url, headers, publicHostsOnly, code, who }: SocketOptions): WebSocket => {
  try {
    if (publicHostsOnly) refusePrivateLiteral(url)
  } catch (cause) {
    throw new ProviderError(code, `${who} lies in a private network.`, { cause, status: 403 })
  }
  return new WebSocket(url, {
    headers: { ...headers },
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    handshakeTimeout: openLimitMs,
    // A redirect would take the key to another host.
    followRedirects: false,
    ...(publicHostsOnly && { lookup: lookupPublic }),
  })
}

const refused = ({ code, who }: SocketOptions, response: IncomingMessage): ProviderError => {
  const status = response.statusCode ?? 502
  response.destroy()
  return new ProviderError(
    code,
    `${who} answered ${status}.`,
    refusalOf(status, response.headers['retry-after']),
  )
}

const unreachable = ({ code, who }: SocketOptions, cause: Error): ProviderError =>
  new ProviderError(code, `${who} cannot be reached.`, { cause })

const keepSocket = (socket: WebSocket, options: SocketOptions): ProviderSocket => {
  const { listener, keepAlive } = options
  let isOver = false
  // Until then the opening fails, and nothing is lost.
  let hasOpened = false
  let isAlive = true
  let sentAt = performance.now()
  const pongs = new Set<PromiseWithResolvers<void>>()

  const end = (error: ProviderError): void => {
    isOver = true
    clearInterval(pinging)
    clearInterval(keeping)
    for (const pong of pongs) pong.reject(error)
    pongs.clear()
  }
  const lose = (message: string, more: { readonly status?: number } = {}): void => {
    if (isOver || !hasOpened) return
    const error = new ProviderError(options.code, `${options.who} ${message}.`, more)
    end(error)
    socket.terminate()
    listener.onLost(error)
  }
  const sendRaw = (data: string | Uint8Array): void => {
    if (isOver || socket.readyState !== WebSocket.OPEN) return
    if (socket.bufferedAmount > maxSendBufferBytes) return lose('takes no more data')
    sentAt = performance.now()
    socket.send(data)
  }
  const sendAny = (message: object | Uint8Array): void =>
    sendRaw(message instanceof Uint8Array ? message : JSON.stringify(message))

  const pinging = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return
    if (!isAlive) return lose('no longer answers')
    isAlive = false
    socket.ping()
  }, pingPeriodMs).unref()
  const keeping = setInterval(() => {
    if (keepAlive && performance.now() - sentAt >= keepAlive.everyMs) sendAny(keepAlive.message)
  }, keepAlive?.everyMs ?? pingPeriodMs).unref()

  socket.once('open', () => {
    hasOpened = true
  })
  socket.on('message', (data: Buffer, isBinary) => {
    isAlive = true
    if (isOver) return
    if (isBinary) listener.onBytes?.(data)
    else listener.onText(data.toString('utf8'))
  })
  socket.on('pong', () => {
    isAlive = true
    for (const pong of pongs) pong.resolve()
    pongs.clear()
  })
  socket.on('error', () => lose('broke the connection'))
  socket.on('close', (code) => {
    const status = statusOfClose(code)
    lose(`closed the connection with ${code}`, status === undefined ? {} : { status })
  })

  return {
    send: (message) => sendRaw(JSON.stringify(message)),
    sendBytes: sendRaw,
    answersPing() {
      const pong = Promise.withResolvers<void>()
      // Who asked may have given up by then.
      pong.promise.catch(() => undefined)
      if (isOver) pong.reject(new ProviderError(options.code, `${options.who} is gone.`))
      else {
        pongs.add(pong)
        if (socket.readyState === WebSocket.OPEN) socket.ping()
      }
      return pong.promise
    },
    close(last) {
      if (isOver) return
      if (last) sendAny(last)
      end(new ProviderError(options.code, `${options.who} was closed.`))
      if (socket.readyState !== WebSocket.OPEN) return socket.terminate()
      socket.close(normalClosure)
      setTimeout(() => socket.terminate(), closeLimitMs).unref()
    },
  }
}

/** The HTTP status that means the same as a close code. */
const statusOfClose = (code: number): number | undefined => {
  // Policy (RFC 6455), unauthorized and forbidden (IANA's registry).
  if (code === 1008 || code === 3000 || code === 3003) return 401
  // Unsupported or invalid data.
  if (code === 1003 || code === 1007) return 415
  // Try again later.
  if (code === 1013) return 429
  return undefined
}
