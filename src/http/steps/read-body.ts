import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../contract/api-error.ts'
import { createArrivingBodies, gatherBytes } from '../connections/arriving-bodies.ts'
import { BodyPlaces, type BodyPlace } from '../connections/body-places.ts'
import type { Exchange } from '../exchange.ts'
import { soleHeader } from '../connections/request-head.ts'

/** Largest raw body (contract, "Limits"). */
export const maxBodyBytes = 1024 * 1024

/** A body that is longer waits for a place to be put together in, and is not read until then. */
const smallBytes = 64 * 1024

const arriving = createArrivingBodies()
const places = new BodyPlaces(maxBodyBytes)

/** Bodies of which no more will come: the parser below gave up on them. */
const broken = new WeakSet<IncomingMessage>()

/**
 * Reads the body, counting while it streams. Throws 413 as soon as it is known to be too large: from
 * `Content-Length` before a byte is read, else at the first byte too many. Throws 429 where too many large ones come at
 * once. What it gives may be used until `releaseBody`.
 */
export const readBody = async ({
  request,
  response,
  organizationId: known,
}: Exchange): Promise<Buffer> => {
  const organizationId: string = known ?? ''
  const declaredBytes = Number(soleHeader(request, 'content-length') ?? 0)
  if (declaredBytes > maxBodyBytes) throw tooLarge()
  const place = declaredBytes > smallBytes ? await takePlace(request, organizationId) : undefined
  if (soleHeader(request, 'expect')?.toLowerCase() === '100-continue') response.writeContinue()
  if (isBroken(request)) throw brokenBody()
  return collect(request, organizationId, place)
}

/** Its request has a response: the place of its body is free. */
export const releaseBody = (request: IncomingMessage): void => places.release(request)

/** Those who go away while they wait no longer do. */
const takePlace = (
  request: IncomingMessage,
  organizationId: string,
): BodyPlace | Promise<BodyPlace> => {
  const taking = places.take(request, organizationId, (error) => breakBody(request, error))
  if (!(taking instanceof Promise)) return taking
  return new Promise((resolve, reject) => {
    const onFault = (): void => {
      places.release(request)
      reject(brokenBody())
    }
    request.once('close', onFault).once('error', onFault)
    taking.finally(() => request.off('close', onFault).off('error', onFault)).then(resolve, reject)
  })
}

/** The listeners stay on: taking them off costs more than the few events they will have nothing to do with. */
const collect = (
  request: IncomingMessage,
  organizationId: string,
  given: BodyPlace | undefined,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const gathered = gatherBytes()
    let place = given
    let isOver = false
    const give = (settle: () => void): void => {
      if (isOver) return
      isOver = true
      arriving.delete(request)
      settle()
    }
    const refuse = (error: Error): void => give(() => reject(error))
    const moveTo = (taken: BodyPlace): void => {
      place = taken
      const bytes = gathered.bytes()
      bytes.copy(taken.buffer)
      taken.filled = bytes.length
      arriving.delete(request)
    }
    const onData = (chunk: Buffer): void => {
      if (isOver) return
      if ((place?.filled ?? gathered.length()) + chunk.length > maxBodyBytes) {
        request.pause()
        return refuse(tooLarge())
      }
      if (place) {
        chunk.copy(place.buffer, place.filled)
        place.filled += chunk.length
        return
      }
      gathered.add(chunk)
      arriving.note(request, { organizationId, bytes: gathered.length(), cut: onFault })
      if (gathered.length() > smallBytes) waitForPlace()
    }
    const waitForPlace = (): void => {
      const taking = takePlace(request, organizationId)
      if (!(taking instanceof Promise)) return moveTo(taking)
      request.pause()
      taking.then((taken) => {
        if (isOver) return places.release(request)
        moveTo(taken)
        request.resume()
      }, refuse)
    }
    const onEnd = (): void =>
      give(() => resolve(place ? place.buffer.subarray(0, place.filled) : gathered.bytes()))
    const onFault = (error?: unknown): void => {
      // Also called when all is well and over.
      if (isOver) return
      broken.add(request)
      refuse(error instanceof ApiError ? error : brokenBody())
    }
    request.on('data', onData).on('end', onEnd).on('error', onFault).on('close', onFault)
  })

/** Tells a request that the rest of its body will never come, whether it is being read already or not. */
export const breakBody = (request: IncomingMessage, reason = brokenBody()): void => {
  broken.add(request)
  if (request.listenerCount('error') > 0) request.emit('error', reason)
}

/** Whether the body broke off, so that nothing on its connection can be trusted any more. */
export const isBroken = (request: IncomingMessage): boolean => broken.has(request)

const tooLarge = (): ApiError =>
  new ApiError('request_too_large', `A request body holds at most ${maxBodyBytes} bytes.`)

const brokenBody = (): ApiError =>
  new ApiError('validation_error', 'The request body broke off or is malformed.')
