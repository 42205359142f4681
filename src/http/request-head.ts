import type { IncomingMessage } from 'node:http'

/** What a request says before its body: all that the steps up to routing look at. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>

/**
 * The value of a header by its lower-case name: `undefined` where it is absent, `null` where it came more than once, as
 * nobody may choose among several. Reads the raw list: Node's own records cost more than all the rest of a lookup, and
 * the usual one keeps the first of two in silence.
 */
export const soleHeader = (
  { rawHeaders }: Pick<RequestHead, 'rawHeaders'>,
  name: string,
): string | null | undefined => {
  let found: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? ''
    if (given.length !== name.length || given.toLowerCase() !== name) continue
    if (found !== undefined) return null
    found = rawHeaders[at + 1] ?? ''
  }
  return found
}

const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/(1\.[01])$/
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/

/**
 * Reads the head of a request that Node's parser refused, from the bytes it refused. `undefined` where they do not
 * begin with a request line; lines that are no headers are left out.
 */
export const readHead = (bytes: Buffer, maxBytes: number): RequestHead | undefined => {
  const [head = ''] = bytes.subarray(0, maxBytes).toString('latin1').split('\r\n\r\n', 1)
  const [first = '', ...lines] = head.split('\r\n')
  const [, method, url, httpVersion] = requestLine.exec(first) ?? []
  if (method === undefined || url === undefined || httpVersion === undefined) return undefined
  const rawHeaders = lines.flatMap((line) => headerLine.exec(line)?.slice(1, 3) ?? [])
  return { method, url, httpVersion, rawHeaders }
}
