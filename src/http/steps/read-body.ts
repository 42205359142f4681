import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../../contract/api-error.ts'
import type { Exchange } from '../exchange.ts'

/** Largest raw body (contract, "Limits"). */
export const maxBodyBytes = 1024 * 1024

/** Requests whose body is being read, so that a fault of the parser below reaches the right one. */
const readers = new WeakMap<Socket, (fault: Error) => void>()

/**
 * Reads the body, counting while it streams. Throws 413 as soon as it is known to be too large: from
 * `Content-Length` before a byte is read, else at the first byte too many.
 */
export const readBody = async ({ request, response }: Exchange): Promise<Buffer> => {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge()
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
  return collect(request)
}

const collect = (request: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onFault).off('close', onClose)
      readers.delete(request.socket)
    }
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes <= maxBodyBytes) return
      stop()
      request.pause()
      reject(tooLarge())
    }
    const onEnd = (): void => {
      stop()
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
    }
    const onFault = (): void => {
      stop()
      reject(brokenBody())
    }
    const onClose = onFault
    request.on('data', onData).on('end', onEnd).on('error', onFault).on('close', onClose)
    readers.set(request.socket, onFault)
  })

/** Tells the request whose body is being read on this socket that it broke. False where there is none. */
export const failReader = (socket: Socket, fault: Error): boolean => {
  const fail = readers.get(socket)
  fail?.(fault)
  return fail !== undefined
}

const tooLarge = (): ApiError =>
  new ApiError('request_too_large', `A request body holds at most ${maxBodyBytes} bytes.`)

const brokenBody = (): ApiError =>
  new ApiError('validation_error', 'The request body broke off or is malformed.')
