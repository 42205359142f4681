import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from '../contract/api-error.ts'
import type { Authenticator, Principal, SessionPrincipal } from '../contract/principal.ts'
import { latestVersion } from '../contract/versions.ts'
import type { Logger } from '../runtime/logger.ts'
import { soleHeader } from './connections/request-head.ts'
import { errorReply, faultReply, standingHeaders, type Headers, type Reply } from './reply.ts'
import { splitTarget } from './request-target.ts'
import { readRequestId } from './steps/request-id.ts'

/** One event as the browser is told it. */
interface StreamedEvent {
  /** Left out, the browser's place stays that of the event before. */
  readonly id?: string
  readonly event: string
  readonly data: unknown
}

/** A browser that listens. */
interface Listener {
  readonly principal: SessionPrincipal
  /** Of the newest event that it has; undefined at its first connection. */
  readonly lastEventId: string | undefined
  /** Whose words it wants to read, as its address has it. */
  readonly words: string | undefined
  readonly send: (event: StreamedEvent) => void
  readonly end: () => void
}

interface EventStreamsOptions {
  readonly path: string
  readonly authenticate: Authenticator
  /** Begins to tell the listener of events; the function that it returns ends that. Throws `ApiError` before that. */
  readonly follow: (listener: Listener) => () => void
  /** Of every answer, as names and values in turn. */
  readonly furtherHeaders: () => readonly string[]
  readonly isDraining: () => boolean
  readonly logger: Logger
}

export interface EventStreams {
  /** Whether a request asks for the stream. */
  readonly serves: (request: IncomingMessage, path: string) => boolean
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  /** Ends every stream. */
  readonly stop: () => void
}

/** Streams of all browsers together, and of one session: a tab beyond asks again and again instead. */
const maxStreams = 1_000
const maxStreamsPerSession = 4
/** A browser that reads no more is let go of; it connects again, and names what it had. */
const maxUnreadBytes = 64 * 1024
/** Proxies close a connection on which nothing comes for a minute. */
const heartbeatMs = 15_000
const refusedRetrySeconds = 30
/** How soon a browser connects again. */
const reconnectMs = 1_000

/** Server-sent events (HTML standard, 9.2) for sessions. */
export const createEventStreams = (options: EventStreamsOptions): EventStreams => {
  const { path, authenticate, follow, furtherHeaders, isDraining, logger } = options
  const open = new Map<ServerResponse, string>()

  const admit = async (request: IncomingMessage): Promise<SessionPrincipal> => {
    const principal: Principal = await authenticate({
      method: 'GET',
      connection: request.socket,
      // An EventSource can send no header of its own, so its address names what the window shows.
      header: (name) =>
        name === shownOrganization.header ? shownBy(request) : soleHeader(request, name),
      isHeldUp: () => false,
    })
    if (principal.kind !== 'session')
      throw new ApiError('authentication_required', 'Sign in to follow what changes.')
    const own = [...open.values()].filter((id) => id === principal.sessionId).length
    if (open.size >= maxStreams || own >= maxStreamsPerSession || isDraining())
      throw new ApiError('rate_limit_exceeded', 'Too many streams are open.', undefined, {
        retryAfterSeconds: refusedRetrySeconds,
      })
    return principal
  }

  const begin = (request: IncomingMessage, response: ServerResponse, by: SessionPrincipal) => {
    const asked = new URLSearchParams(splitTarget(request.url ?? '').query)
    const early: string[] = []
    let write = (text: string): void => void early.push(text)
    const leave = follow({
      principal: by,
      // A page that wants other words connects anew, and has no way to set the header itself.
      lastEventId: soleHeader(request, 'last-event-id') ?? asked.get('after') ?? undefined,
      words: asked.get('words') ?? undefined,
      send: ({ id, event, data }) =>
        write(
          `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
        ),
      end: () => response.end(),
    })
    open.set(response, by.sessionId)
    response.writeHead(200, {
      ...standingHeaders(readRequestId(request), latestVersion),
      ...headersOf(furtherHeaders()),
      'Content-Type': 'text/event-stream; charset=utf-8',
      // nginx would hold events back.
      'X-Accel-Buffering': 'no',
    })
    write = (text) => {
      if (response.writableLength > maxUnreadBytes) response.destroy()
      else response.write(text)
    }
    write(`retry: ${reconnectMs}\n\n${early.join('')}`)
    const heartbeat = setInterval(() => write(':\n\n'), heartbeatMs)
    heartbeat.unref()
    response.once('close', () => {
      clearInterval(heartbeat)
      open.delete(response)
      leave()
    })
  }

  return {
    serves: (request, asked) => request.method === 'GET' && asked === path,
    serve: async (request, response) => {
      try {
        const principal = await admit(request)
        if (!response.destroyed) begin(request, response, principal)
      } catch (error) {
        const requestId = readRequestId(request)
        if (!(error instanceof ApiError)) logger.error({ requestId, err: error }, 'stream failed')
        const reply =
          error instanceof ApiError ? errorReply(error, requestId) : faultReply(requestId)
        refuse(response, reply, {
          ...standingHeaders(requestId, latestVersion),
          ...headersOf(furtherHeaders()),
        })
      }
    },
    stop: () => {
      for (const response of open.keys()) response.end()
    },
  }
}

const shownOrganization = { header: 'outdial-organization', parameter: 'organization' } as const

const shownBy = (request: IncomingMessage): string | undefined => {
  const { query } = splitTarget(request.url ?? '')
  return new URLSearchParams(query).get(shownOrganization.parameter) ?? undefined
}

const refuse = (response: ServerResponse, { status, body, headers }: Reply, further: Headers) => {
  response.writeHead(status, {
    ...further,
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
  })
  response.end(body)
}

/** Names and values in turn, as an object. */
const headersOf = (pairs: readonly string[]): Headers => {
  const headers: Headers = {}
  for (let at = 0; at + 1 < pairs.length; at += 2) headers[pairs[at] ?? ''] = pairs[at + 1] ?? ''
  return headers
}
