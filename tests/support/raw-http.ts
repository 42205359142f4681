import { connect } from 'node:net'

export interface RawResponse {
  readonly status: number
  /** Lower-case names; a repeated header is joined by ', '. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RawOptions {
  /** Ends our half of the connection after the bytes. */
  readonly end?: boolean
  /** The response has no body although it declares one. */
  readonly isHead?: boolean
}

/**
 * Sends exactly these bytes on its own connection and reads until the server closes it, so that a test can send
 * what no HTTP client would. Informational (1xx) responses are skipped.
 */
export const sendRaw = (
  port: number,
  bytes: string | Buffer,
  options: RawOptions = {},
): Promise<RawResponse[]> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close while we still send; its response before that counts.
      if (chunks.length === 0) reject(error)
    })
    socket.on('end', () => socket.end())
    socket.on('close', () =>
      resolve(parseResponses(Buffer.concat(chunks), options.isHead ?? false)),
    )
    if (options.end) socket.end(bytes)
    else socket.write(bytes)
  })

const parseResponses = (bytes: Buffer, isHead: boolean): RawResponse[] => {
  const responses: RawResponse[] = []
  let at = 0
  while (at < bytes.length) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd === -1) throw new Error(`No head in: ${bytes.subarray(at).toString('latin1')}`)
    const [statusLine = '', ...lines] = bytes.subarray(at, headEnd).toString('latin1').split('\r\n')
    const status = Number(statusLine.split(' ')[1])
    const headers = parseHeaders(lines)
    const length = isHead || status < 200 ? 0 : Number(headers['content-length'] ?? 0)
    at = headEnd + 4 + length
    if (status < 200) continue
    responses.push({ status, headers, body: bytes.subarray(headEnd + 4, at).toString() })
  }
  return responses
}

const parseHeaders = (lines: readonly string[]): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}
