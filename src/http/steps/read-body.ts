import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../contract/api-error.ts'
import { createArrivingBodies, gatherBytes } from '../arriving-bodies.ts'
import type { Exchange } from '../exchange.ts'
import { soleHeader } from '../request-head.ts'

/** Largest raw body (contract, "Limits"). */
export const maxBodyBytes = 1024 * 1024

const arriving = createArrivingBodies()

/** Bodies of which no more will come: the parser below gave up on them. */
const broken = new WeakSet<IncomingMessage>()

/**
 * Reads the body, counting while it streams. Throws 413 as soon as it is known to be too large: from
 * `Content-Length` before a byte is read, else at the first byte too many.
 */
export const readBody = ({ request, response, organizationId }: Exchange): Promise<Buffer> => {
  if (Number(soleHeader(request, 'content-length') ?? 0) > maxBodyBytes) throw tooLarge()
  if (soleHeader(request, 'expect')?.toLowerCase() === '100-continue') response.writeContinue()
  if (isBroken(request)) throw brokenBody()
  return collect(request, organizationId ?? '')
}

/** The listeners stay on: taking them off costs more than the few events they will have nothing to do with. */
const collect = (request: IncomingMessage, organizationId: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const gathered = gatherBytes()
    let isOver = false
    const give = (settle: () => void): void => {
      if (isOver) return
      isOver = true
      arriving.delete(request)
      settle()
    }
    const onData = (chunk: Buffer): void => {
      if (isOver) return
      gathered.add(chunk)
      if (gathered.length() > maxBodyBytes) {
        request.pause()
        return give(() => reject(tooLarge()))
      }
      arriving.note(request, { organizationId, bytes: gathered.length(), cut: onFault })
    }
    const onEnd = (): void => give(() => resolve(gathered.bytes()))
    const onFault = (): void =>
      give(() => {
        broken.add(request)
        reject(brokenBody())
      })
    request.on('data', onData).on('end', onEnd).on('error', onFault).on('close', onFault)
  })

/** Tells a request that the rest of its body will never come, whether it is being read already or not. */
export const breakBody = (request: IncomingMessage): void => {
  broken.add(request)
  if (request.listenerCount('error') > 0) request.emit('error', brokenBody())
}

/** Whether the body broke off, so that nothing on its connection can be trusted any more. */
export const isBroken = (request: IncomingMessage): boolean => broken.has(request)

const tooLarge = (): ApiError =>
  new ApiError('request_too_large', `A request body holds at most ${maxBodyBytes} bytes.`)

const brokenBody = (): ApiError =>
  new ApiError('validation_error', 'The request body broke off or is malformed.')
