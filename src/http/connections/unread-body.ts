import type { IncomingMessage, ServerResponse } from 'node:http'
import { soleHeader } from './request-head.ts'
import { isBroken, maxBodyBytes } from '../steps/read-body.ts'

/** How much of a refused body is still read, and for how long, before the connection closes. */
const maxDiscardedBytes = 8 * 1024 * 1024
const maxDiscardMs = 2000

/**
 * The unread part of a body when its request gets a response. `unbounded`: too large or of unknown length, so that
 * the connection cannot be kept. `withheld`: the client waits for 100, or the parser lost its position. A small
 * declared rest counts as `none`: Node skips it.
 */
export const restOfBody = (request: IncomingMessage): 'none' | 'unbounded' | 'withheld' => {
  if (isBroken(request)) return 'withheld'
  if (request.complete) return 'none'
  if (soleHeader(request, 'expect') !== undefined) return 'withheld'
  const isUnbounded =
    soleHeader(request, 'transfer-encoding') !== undefined ||
    Number(soleHeader(request, 'content-length') ?? 0) > maxBodyBytes
  return isUnbounded ? 'unbounded' : 'none'
}

/**
 * Sends the whole response at once and closes the connection only after reading what the client is still sending:
 * closing with unread bytes makes TCP reset the connection, and the client would lose the response.
 */
export const endAfterDiscarding = (
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Buffer,
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
