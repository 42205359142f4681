import type { IncomingMessage } from 'node:http'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { OutboundHttp } from '../../runtime/outbound-http.ts'

/** An agent's tool that sends HTTP requests. The callee's words are data in its arguments, never its address. */
export interface HttpTool {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `{name}` within the path or the query is replaced by that argument; the host is always the agent's. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

interface HttpToolAnswer {
  readonly status: number
  /** Parsed if it is JSON, else text. */
  readonly body: unknown
}

/** No callee waits longer than this; the conversation gives up at the same time. */
const maxToolTimeoutMs = 8_000
const maxAnswerBytes = 64 * 1024

/** The organization and call of the tool. */
interface ToolCaller {
  readonly organizationId: OrganizationId
  /** Whether private and loopback addresses may be reached. */
  readonly allowPrivateNetwork: boolean
}

/**
 * Sends the request: arguments that the URL does not name go into a JSON body, or into the query for GET and
 * DELETE. Follows no redirect. Throws for a network fault, a late or too long response, a missing argument of the
 * URL, headers of the connection, and for private addresses unless they are allowed.
 */
export const askHttpTool = async (
  outbound: OutboundHttp,
  tool: HttpTool,
  toolArguments: unknown,
  caller: ToolCaller,
): Promise<HttpToolAnswer> => {
  const { url, rest } = fillUrl(tool.url, argumentsOf(toolArguments))
  const hasBody = tool.method !== 'GET' && tool.method !== 'DELETE'
  if (!hasBody) addQuery(url, rest)
  const response = await outbound.send({
    ...caller,
    url,
    method: tool.method,
    headers: { ...tool.headers, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
    signal: AbortSignal.timeout(Math.min(tool.timeoutMs ?? maxToolTimeoutMs, maxToolTimeoutMs)),
    ...(hasBody ? { body: JSON.stringify(rest) } : {}),
  })
  return { status: response.statusCode ?? 0, body: parseBody(await readText(response)) }
}

type Arguments = Readonly<Record<string, unknown>>

const argumentsOf = (value: unknown): Arguments =>
  typeof value === 'object' && value !== null ? { ...value } : {}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

const placeholder = /\{([A-Za-z][A-Za-z0-9_]{0,63})\}/g
/** The braces as a URL parser writes them in a path. */
const escapedPlaceholder = /%7B([A-Za-z][A-Za-z0-9_]{0,63})%7D/gi

/**
 * Replaces each `{name}` after the host by its argument, as one escaped path segment or query value: no argument
 * can change the host, leave its segment or add a parameter.
 */
const fillUrl = (template: string, given: Arguments): { url: URL; rest: Arguments } => {
  const url = new URL(template)
  const used = new Set<string>()
  const take = (name: string): string => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined || value === null) throw new Error(`The argument ${name} is missing.`)
    used.add(name)
    return textOf(value).toWellFormed()
  }
  const fillSegment = (_match: string, name: string): string => {
    const text = take(name)
    // A segment of dots alone would move up in the path.
    if (/^\.{0,2}$/.test(text)) throw new Error(`The argument ${name} cannot stand in a path.`)
    return encodeURIComponent(text)
  }
  const fillValue = (_match: string, name: string): string => encodeURIComponent(take(name))
  const { pathname, search } = url
  url.pathname = fill(pathname, fillSegment)
  url.search = fill(search, fillValue)
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !used.has(name)))
  return { url, rest }
}

const fill = (text: string, replacer: (match: string, name: string) => string): string =>
  text.replace(escapedPlaceholder, replacer).replace(placeholder, replacer)

const addQuery = (url: URL, rest: Arguments): void => {
  for (const [name, value] of Object.entries(rest)) url.searchParams.set(name, textOf(value))
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
