import type { IncomingMessage } from 'node:http'

/** The request's head: all that the steps up to routing read. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>

/**
 * The value of a header by its lower-case name: `undefined` if absent, `null` if repeated, because choosing among
 * several would be ambiguous. Reads the raw list: Node's own records cost more than the rest of a lookup, and the
 * usual one silently keeps the first of two.
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
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Reads the head of a request that Node's parser refused, from the bytes it refused. `undefined` where they do not
 * begin with a request line; lines that are no headers are left out.
 */
export const readHead = (bytes: Buffer, maxBytes: number): RequestHead | undefined => {
  const [head = ''] = bytes.subarray(0, maxBytes).toString('latin1').split('\r\n\r\n', 1)
  const [first = '', ...lines] = head.split('\r\n')
  const [, method, url, httpVersion] = requestLine.exec(first) ?? []
  if (method === undefined || url === undefined || httpVersion === undefined) return undefined
  const rawHeaders = lines.flatMap((line) => readHeader(line) ?? [])
  return { method, url, httpVersion, rawHeaders }
}

const readHeader = (line: string): [name: string, value: string] | undefined => {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  return headerName.test(name) ? [name, withoutBlanks(line.slice(colon + 1))] : undefined
}

/** Without the spaces and tabs around it (RFC 9110 5.5): `trim` would take more away. */
const withoutBlanks = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text[start])) start += 1
  while (end > start && isBlank(text[end - 1])) end -= 1
  return text.slice(start, end)
}

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t'
