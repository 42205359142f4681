/**
 * Headers that define where a message ends, or that belong to one connection (RFC 9110 section 7.6.1, RFC 9112
 * section 6): only the program that writes to the socket may set them. With a tenant's Content-Length, the rest of
 * a request would swallow the next one on that connection.
 */
const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Whether a header frames the message or belongs to the connection, so that a tenant may not set it. */
export const isConnectionHeader = (name: string): boolean => {
  const known = name.toLowerCase()
  return connectionHeaders.has(known) || known.startsWith('proxy-')
}

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
/** One line: a tab is the only control character that a value may have. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]{0,4096}$/

export const isHeaderName = (text: string): boolean => headerName.test(text)
export const isHeaderValue = (text: string): boolean => headerValue.test(text)

/** Throws if a tenant may not send this header; the message contains its name, never its value. */
export const requireSendable = (headers: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeaderName(name)) throw new Error('A header of the request has no usable name.')
    if (isConnectionHeader(name))
      throw new Error(`The header ${name} is set by the connection and cannot be given.`)
    if (!isHeaderValue(value)) throw new Error(`The header ${name} is not one line of text.`)
  }
}
