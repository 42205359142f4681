import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BlockList } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isUuid } from '../runtime/ids.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import { parseRange, type ByteRange } from './byte-range.ts'
import { createHttpServer } from './connections/http-server.ts'
import { splitTarget } from './request-target.ts'

/** The bytes of a recording. */
interface OpenRecording {
  readonly size: number
  /** Both ends of the range are inclusive. The stream is destroyed when the caller goes away. */
  stream(range: ByteRange): Readable | Promise<Readable>
}

interface MediaServerOptions {
  /** The recording that a download URL gives access to; `undefined` for an altered or expired URL. */
  readonly verify: (url: URL) => { readonly recordingId: string } | undefined
  readonly openRecording: (recordingId: string) => Promise<OpenRecording | undefined>
  readonly logger: Logger
  /** Addresses and networks of proxies, which no cap of connections per address holds. */
  readonly trustedProxies?: BlockList | undefined
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
}

/**
 * The media origin: GET and HEAD of signed download URLs, with single ranges, and nothing else. It knows no keys
 * and sets no cookies. An altered or expired URL is 403 without detail (D12).
 */
export const createMediaServer = (
  options: MediaServerOptions,
): Service & { readonly port: number } =>
  createHttpServer(
    { ...options, isStreaming: true },
    {
      onRequest: (request, response) => {
        answer(request, response, options).catch((error: unknown) => {
          if (!isGone(error)) options.logger.error({ err: error }, 'download failed')
          if (response.headersSent) response.destroy()
          else refuse(response, 500)
        })
      },
      refuse: (_request, response) => refuse(response, 400, { Connection: 'close' }),
    },
  )

const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  { verify, openRecording }: MediaServerOptions,
): Promise<void> => {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse(response, 405, { Allow: 'GET, HEAD' })
  const granted = parsedUrl(request, verify)
  if (!granted) return refuse(response, 403)
  const recording = await openRecording(granted.recordingId)
  if (!recording) return refuse(response, 404)
  await sendRecording(request, response, granted.recordingId, recording)
}

const parsedUrl = (
  request: IncomingMessage,
  verify: MediaServerOptions['verify'],
): { readonly recordingId: string } | undefined => {
  const { path, query } = splitTarget(request.url ?? '')
  const url = URL.parse(`${path}?${query}`, 'http://media')
  return url && isUuid(path.replace('/recordings/', '')) ? verify(url) : undefined
}

const sendRecording = async (
  request: IncomingMessage,
  response: ServerResponse,
  recordingId: string,
  recording: OpenRecording,
): Promise<void> => {
  // A recording never changes once it is stored, so its id is all an entity tag needs.
  const etag = `"${recordingId}"`
  const headers = headersOf(recordingId, etag)
  if (matches(request.headers['if-none-match'], etag)) return refuse(response, 304, headers)
  const range = requestedRange(request, recording.size, etag)
  if (range === 'unsatisfiable')
    return refuse(response, 416, { 'Content-Range': `bytes */${recording.size}` })
  const whole = { start: 0, end: recording.size - 1 }
  const { start, end } = range ?? whole
  response.writeHead(range ? 206 : 200, {
    ...headers,
    'Content-Type': 'audio/mpeg',
    'Content-Length': String(end - start + 1),
    ...(range ? { 'Content-Range': `bytes ${start}-${end}/${recording.size}` } : {}),
  })
  if (request.method === 'HEAD' || end < start) return void response.end()
  // A slow connection is allowed: the stream waits for it. One that takes no byte at all is closed.
  response.setTimeout(stalledMs)
  await pipeline(await recording.stream({ start, end }), response)
}

/** How long a download goes on whose caller takes no byte. */
const stalledMs = 60_000

const requestedRange = (request: IncomingMessage, size: number, etag: string) => {
  const condition = request.headers['if-range']
  // RFC 9110 section 13.1.5: a range of something else is no use to the caller.
  if (request.method !== 'GET' || (condition !== undefined && condition !== etag)) return undefined
  return parseRange(request.headers.range, size)
}

const headersOf = (recordingId: string, etag: string): Record<string, string> => ({
  ...standingHeaders,
  'Accept-Ranges': 'bytes',
  ETag: etag,
  'Content-Disposition': `attachment; filename="${recordingId}.mp3"`,
})

/** The URL is the permission, so no cache may keep the bytes; and they are never a page. */
const standingHeaders = {
  'Cache-Control': 'private, no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
}

const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header
    .split(',')
    .map((one) => one.trim().replace(/^W\//, ''))
    .some((one) => one === etag || one === '*')

const refuse = (
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { ...standingHeaders, ...headers, 'Content-Length': '0' })
  response.end()
}

/** The client went away during a download, which is no fault. */
const isGone = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_STREAM_PREMATURE_CLOSE'
