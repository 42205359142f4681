import type { IncomingMessage, ServerResponse } from 'node:http'
import { latestVersion } from '../contract/versions.ts'
import { errorReply, standingHeaders, type Headers } from './reply.ts'
import { MethodNotAllowed } from './router.ts'
import { readRequestId } from './steps/request-id.ts'

export interface PageContent {
  readonly status?: number
  readonly type: string
  readonly body: string | Buffer
  readonly headers?: Headers
}

export type Page = () => PageContent | Promise<PageContent>

/** What is served without a key, by exact path: GET and HEAD only. */
export type Pages = ReadonlyMap<string, Page>

const allowed = ['GET', 'HEAD']

/** Answers a page. Rejects where the page itself fails. */
export const servePage = async (
  page: Page,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const requestId = readRequestId(request)
  const content = allowed.includes(request.method ?? '') ? await page() : refuse(requestId)
  const body = Buffer.from(content.body)
  response.writeHead(content.status ?? 200, {
    ...standingHeaders(requestId, latestVersion),
    'Content-Type': content.type,
    'Content-Length': String(body.length),
    ...content.headers,
  })
  response.end(body)
}

export const jsonPage = (value: unknown, status = 200): PageContent => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
})

const refuse = (requestId: string): PageContent => {
  const { status, body, headers } = errorReply(new MethodNotAllowed(allowed), requestId)
  return { status, type: 'application/json; charset=utf-8', body, headers }
}
