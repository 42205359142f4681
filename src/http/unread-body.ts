import type { IncomingMessage, ServerResponse } from 'node:http'
import { maxBodyBytes } from './steps/read-body.ts'

/** How much of a refused body is still taken in, and for how long, before the connection closes. */
const maxDiscardedBytes = 8 * 1024 * 1024
const maxDiscardMs = 2000

/**
 * Whether so much of the body may follow that the connection cannot be kept: too large, of unknown length, or held
 * back by the caller until it is told to go on. A small declared body is skipped by Node itself.
 */
export const hasUnreadBody = (request: IncomingMessage): boolean =>
  !request.complete &&
  (request.headers['transfer-encoding'] !== undefined ||
    request.headers.expect !== undefined ||
    Number(request.headers['content-length'] ?? 0) > maxBodyBytes)

/**
 * Sends the whole answer at once and closes the connection only after taking in what the caller is still sending:
 * closing on unread bytes makes TCP reset the connection, and the caller would lose the answer.
 */
export const endAfterDiscarding = (
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): void => {
  let left = maxDiscardedBytes
  const onData = (chunk: Buffer): void => {
    left -= chunk.length
    if (left < 0) end()
  }
  const end = (): void => {
    clearTimeout(timer)
    request.off('data', onData).off('end', end).off('close', end).off('error', end)
    response.end()
  }
  const timer = setTimeout(end, maxDiscardMs)
  request.on('data', onData).on('end', end).on('close', end).on('error', end)
  response.write(body)
  request.resume()
}
