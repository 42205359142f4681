import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../contract/api-error.ts'
import { latestVersion } from '../contract/versions.ts'
import { errorReply, standingHeaders, type Reply } from './reply.ts'
import { splitTarget } from './request-target.ts'
import { MethodNotAllowed, type Router } from './router.ts'
import { newRequestId } from './steps/request-id.ts'
import { breakBody } from './steps/read-body.ts'

interface ParserFault extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

/**
 * Answers what Node's parser refuses before there is a request (a bad header line, an oversized head, an unknown
 * method, half a request) with the same envelope and headers as everything else, then closes the connection.
 */
export const answerParserFaults = (server: Server, router: Router): void => {
  const running = trackRunning(server)
  server.on('clientError', (fault: ParserFault, socket: Socket) => {
    const current = running.get(socket)
    // Within a body: the request it belongs to answers.
    if (current && !current.request.complete) return breakBody(current.request)
    if (!socket.writable || fault.code === 'ECONNRESET') return void socket.destroy()
    // Behind a request that is still running: its answer goes first, and this connection carries no other.
    if (current) return void current.response.once('close', () => socket.destroy())
    writeRaw(socket, refuse(fault, router))
  })
  // CONNECT never becomes a request: it would turn the connection into a tunnel.
  server.on('connect', (request, socket: Socket) => {
    const error = methodError(router, splitTarget(request.url ?? '').path)
    writeRaw(socket, (requestId) => errorReply(error, requestId))
  })
}

interface Running {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** The newest request of each socket that is not answered yet. */
const trackRunning = (server: Server): WeakMap<Socket, Running> => {
  const running = new WeakMap<Socket, Running>()
  const track = (request: IncomingMessage, response: ServerResponse): void => {
    running.set(request.socket, { request, response })
    response.once('close', () => {
      if (running.get(request.socket)?.response === response) running.delete(request.socket)
    })
  }
  server.on('request', track).on('checkContinue', track).on('checkExpectation', track)
  return running
}

const maxHeadBytes = 16_384
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\S+) HTTP\/1\.[01]\r\n/

const refuse =
  (fault: ParserFault, router: Router) =>
  (requestId: string): Reply =>
    errorReply(describe(fault, router), requestId)

const describe = (fault: ParserFault, router: Router): ApiError => {
  const { code, rawPacket } = fault
  if (code === 'HPE_INVALID_METHOD' || code === 'HPE_INVALID_URL') {
    const head = rawPacket?.subarray(0, maxHeadBytes).toString('latin1') ?? ''
    const target = requestLine.exec(head)?.[1]
    return target === undefined ? malformed : methodError(router, splitTarget(target).path)
  }
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ApiError('validation_error', 'The head of a request holds at most 16384 bytes.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ApiError('validation_error', 'The request did not arrive in time.')
  return malformed
}

const malformed = new ApiError('validation_error', 'This is not a well-formed HTTP/1.1 request.')

const methodError = (router: Router, path: string): ApiError => {
  const allowed = router.allowedMethods(path)
  return allowed
    ? new MethodNotAllowed(allowed)
    : new ApiError('resource_not_found', 'There is no such path.')
}

const writeRaw = (socket: Socket, replyFor: (requestId: string) => Reply): void => {
  const requestId = newRequestId()
  const { status, body, headers } = replyFor(requestId)
  const lines = Object.entries({
    ...standingHeaders(requestId, latestVersion),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Date: new Date().toUTCString(),
    ...headers,
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}
