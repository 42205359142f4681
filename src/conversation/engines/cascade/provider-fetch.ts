import {
  Agent as HttpAgent,
  request as requestHttp,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import { lookupPublic, refusePrivateLiteral } from '../../../runtime/public-lookup.ts'

const kept = { keepAlive: true, maxFreeSockets: 32, timeout: 4_000, scheduling: 'lifo' } as const
/**
 * Node's own agents would use a proxy of the environment (`NODE_USE_ENV_PROXY`), which then chooses the address.
 */
const guardedAgents: Partial<Record<string, HttpAgent | HttpsAgent>> = {
  'http:': new HttpAgent(kept),
  'https:': new HttpsAgent(kept),
}

/**
 * `fetch` for model servers, over kept connections: sends text or bytes, receives a stream. Follows no redirect, so
 * that no key goes to another host.
 * @param publicHostsOnly a tenant supplied the address: only public hosts are allowed
 */
export const createProviderFetch =
  (publicHostsOnly: boolean): typeof fetch =>
  async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (publicHostsOnly) refusePrivateLiteral(url)
    const options: RequestOptions = {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.signal && { signal: init.signal }),
      ...(publicHostsOnly && { lookup: lookupPublic, agent: guardedAgents[url.protocol] }),
    }
    const incoming = await send(url, options, bodyOf(init.body))
    return new Response(Readable.toWeb(incoming) as ReadableStream<Uint8Array>, {
      status: incoming.statusCode ?? 502,
      headers: headersOf(incoming),
    })
  }

const bodyOf = (body: unknown): string | Uint8Array | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  throw new TypeError('Only text and bytes are sent.')
}

const send = (
  url: URL,
  options: RequestOptions,
  body: string | Uint8Array | undefined,
): Promise<IncomingMessage> => {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = request(url, options, resolve)
    // Small requests; a callee waits for each.
    sent.setNoDelay(true)
    sent.on('error', reject).end(body)
  })
}

const headersOf = ({ headersDistinct }: IncomingMessage): Headers => {
  const headers = new Headers()
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  return headers
}
