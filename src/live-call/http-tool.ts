import { lookup as resolveName } from 'node:dns'
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from '../runtime/private-address.ts'

/** A tool of an agent that asks an HTTP server. What the callee says is data in its arguments, never its address. */
export interface HttpTool {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

export interface HttpToolAnswer {
  readonly status: number
  /** Parsed where it is JSON, else text. */
  readonly body: unknown
}

/** Nobody waits longer than this on a telephone; the conversation gives up at the same time. */
const maxToolTimeoutMs = 8_000
const maxAnswerBytes = 64 * 1024

/**
 * Asks the server: arguments as JSON body, or as query for GET and DELETE. Follows no redirect. Throws for a network
 * fault, a late or too long answer, and for private addresses unless they are allowed.
 */
export const askHttpTool = async (
  tool: HttpTool,
  toolArguments: unknown,
  allowPrivateNetwork: boolean,
): Promise<HttpToolAnswer> => {
  const url = new URL(tool.url)
  if (!['http:', 'https:'].includes(url.protocol))
    throw new Error('Only http and https are served.')
  const hasBody = tool.method !== 'GET' && tool.method !== 'DELETE'
  if (!hasBody) addQuery(url, toolArguments)
  const response = await send(
    url,
    {
      method: tool.method,
      headers: { ...tool.headers, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
      signal: AbortSignal.timeout(Math.min(tool.timeoutMs ?? maxToolTimeoutMs, maxToolTimeoutMs)),
      ...(allowPrivateNetwork ? {} : { lookup: lookupPublic }),
      ...(hasBody ? { body: JSON.stringify(toolArguments ?? {}) } : {}),
    },
    allowPrivateNetwork,
  )
  return { status: response.statusCode ?? 0, body: parseBody(await readText(response)) }
}

const addQuery = (url: URL, toolArguments: unknown): void => {
  if (typeof toolArguments !== 'object' || toolArguments === null) return
  for (const [name, value] of Object.entries(toolArguments)) {
    url.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
}

const send = (
  url: URL,
  { body, ...options }: RequestOptions & { readonly body?: string },
  allowPrivateNetwork: boolean,
): Promise<IncomingMessage> => {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // A literal address is never looked up, so that it has to be judged here.
  if (!allowPrivateNetwork && isIP(host) !== 0 && !isPublicAddress(host)) {
    return Promise.reject(new Error('The tool points into a private network.'))
  }
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    request(url, options, resolve).on('error', reject).end(body)
  })
}

/** Judges the very address that is connected to, so that a name cannot change between check and use. */
const lookupPublic: LookupFunction = (hostname, options, callback) => {
  resolveName(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '')
    const isPublic =
      addresses.length > 0 && addresses.every(({ address }) => isPublicAddress(address))
    if (!isPublic) return callback(new Error('The tool points into a private network.'), '')
    if (options.all === true) callback(null, addresses)
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
  })
}

const readText = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxAnswerBytes) throw new Error('The answer of the tool is too long.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const parseBody = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
