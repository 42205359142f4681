import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { latestVersion } from '../contract/versions.ts'
import type { Logger } from '../runtime/logger.ts'
import { heldBytes } from './response-bytes.ts'
import { errorReply, faultReply, standingHeaders, type Headers, type Reply } from './reply.ts'
import { MethodNotAllowed } from './router.ts'
import { readRequestId } from './steps/request-id.ts'

export interface PageContent {
  readonly status?: number
  readonly type: string
  /** A buffer is one for all requests: what is large and always the same. */
  readonly body: string | Buffer
  /** The same body in gzip, for clients that accept it; shared as well. */
  readonly gzipped?: Buffer
  readonly headers?: Headers
}

export type WebPage = () => PageContent | Promise<PageContent>

/** Served without a key, by exact path: GET and HEAD only. */
export type Pages = ReadonlyMap<string, WebPage>

const allowed = ['GET', 'HEAD']

/** Sends a page; one that fails is a 500 and one log line. */
export const servePage = async (
  page: WebPage,
  request: IncomingMessage,
  response: ServerResponse,
  logger: Logger,
): Promise<void> => {
  const requestId = readRequestId(request)
  const content = allowed.includes(request.method ?? '')
    ? await contentOf(page, requestId, logger)
    : errorPage(errorReply(new MethodNotAllowed(allowed), requestId))
  const zippedBody = acceptsGzip(request) ? content.gzipped : undefined
  const body = zippedBody ?? content.body
  // In memory once for all clients: one that does not read it costs nothing.
  if (typeof body !== 'string') heldBytes.set(response, 0)
  response.writeHead(content.status ?? 200, {
    ...standingHeaders(requestId, latestVersion),
    'Content-Type': content.type,
    'Content-Length': String(Buffer.byteLength(body)),
    ...(content.gzipped && { Vary: 'Accept-Encoding' }),
    ...(zippedBody && { 'Content-Encoding': 'gzip' }),
    ...content.headers,
  })
  response.end(body)
}

const contentOf = async (
  page: WebPage,
  requestId: string,
  logger: Logger,
): Promise<PageContent> => {
  try {
    return await page()
  } catch (error) {
    logger.error({ requestId, err: error }, 'page failed')
    return errorPage(faultReply(requestId))
  }
}

const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  /(?:^|,)\s*gzip\s*(?:,|$)/i.test(headers['accept-encoding']?.toString() ?? '')

const zip = promisify(gzip)

/** For a body that is large and always the same. */
export const zipped = async (content: PageContent): Promise<PageContent> => {
  const body = Buffer.from(content.body)
  return { ...content, body, gzipped: await zip(body) }
}

const jsonType = 'application/json; charset=utf-8'

const errorPage = (reply: Reply): PageContent => ({ ...reply, type: jsonType })

export const jsonPage = (value: unknown, status = 200): PageContent => ({
  status,
  type: jsonType,
  body: JSON.stringify(value),
})
