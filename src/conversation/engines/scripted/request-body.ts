import type { IncomingMessage } from 'node:http'

/** The whole body, or `undefined` if it exceeds the limit. */
export const readWholeBody = async (
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    // The rest is read and discarded, so that the client reads the response.
    if (length <= maxBytes) chunks.push(chunk)
  }
  return length > maxBytes ? undefined : Buffer.concat(chunks)
}

const maxParts = 20

/** The parts of a `multipart/form-data` body by name (RFC 7578); `undefined` for any other body. */
export const readForm = (body: Buffer, contentType: string): Map<string, Buffer> | undefined => {
  const boundary = /boundary="?([^";]{1,70})"?/i.exec(contentType)?.[1]
  if (boundary === undefined) return undefined
  const form = new Map<string, Buffer>()
  const delimiter = `--${boundary}`
  let at = body.indexOf(delimiter)
  for (let parts = 0; at >= 0 && parts < maxParts; parts += 1) {
    const next = body.indexOf(`\r\n${delimiter}`, at + delimiter.length)
    if (next < 0) break
    const part = body.subarray(at + delimiter.length + 2, next)
    const headEnd = part.indexOf('\r\n\r\n')
    const name = /name="([^"]{1,100})"/i.exec(part.toString('latin1', 0, headEnd))?.[1]
    if (name !== undefined && headEnd >= 0) form.set(name, part.subarray(headEnd + 4))
    at = next + 2
  }
  return form
}
