import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../../contract/api-error.ts'
import { latestVersion } from '../../contract/versions.ts'
import type { Kernel, TurnedAway } from '../kernel.ts'
import { errorReply, standingHeaders } from '../reply.ts'
import { readHead } from './request-head.ts'
import { newRequestId, readRequestId } from '../steps/request-id.ts'
import { breakBody } from '../steps/read-body.ts'

interface ParserFault extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

/**
 * Responds to what Node's parser refuses before there is a request (a bad header line, an oversized head, an
 * unknown method, half a request), with the same envelope and headers as everything else, then closes the
 * connection.
 */
export const respondToParserFaults = (server: Server, kernel: Kernel): void => {
  const running = trackRunning(server)
  server.on('clientError', (fault: ParserFault, socket: Socket) => {
    const current = running(socket)
    // Within a body: its own request gets the response.
    if (current && !current.request.complete) return breakBody(current.request)
    if (!socket.writable || fault.code === 'ECONNRESET') return void socket.destroy()
    // Behind an active request: its response goes first, and this connection carries no other.
    if (current) return void current.response.once('close', () => socket.destroy())
    void refuse(fault, socket, kernel).then((answer) => writeRaw(socket, answer))
  })
  // CONNECT never becomes a request: it would turn the connection into a tunnel.
  server.on('connect', (request, socket: Socket) => {
    void kernel.turnAway(request, socket, malformed).then((answer) => writeRaw(socket, answer))
  })
}

interface Running {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Returns the newest request of a socket, if it has no response yet. */
const trackRunning = (server: Server): ((socket: Socket) => Running | undefined) => {
  const newest = new WeakMap<Socket, Running>()
  const track = (request: IncomingMessage, response: ServerResponse): void => {
    newest.set(request.socket, { request, response })
  }
  server.on('request', track).on('checkContinue', track).on('checkExpectation', track)
  return (socket) => {
    const running = newest.get(socket)
    return running?.response.closed ? undefined : running
  }
}

const maxHeadBytes = 16_384

/** A method that the parser does not know goes through the same steps as one that we do not know. */
const refuse = async (fault: ParserFault, socket: Socket, kernel: Kernel): Promise<TurnedAway> => {
  const head = fault.rawPacket && readHead(fault.rawPacket, maxHeadBytes)
  const isWellFormed = fault.code === 'HPE_INVALID_METHOD' || fault.code === 'HPE_INVALID_URL'
  if (head && isWellFormed) return kernel.turnAway(head, socket, malformed)
  const requestId = head ? readRequestId(head) : newRequestId()
  return { requestId, version: latestVersion, reply: errorReply(describe(fault), requestId) }
}

const describe = ({ code }: ParserFault): ApiError => {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ApiError('validation_error', 'The head of a request holds at most 16384 bytes.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ApiError('validation_error', 'The request did not arrive in time.')
  return malformed
}

const malformed = new ApiError('validation_error', 'This is not a well-formed HTTP/1.1 request.')

const writeRaw = (socket: Socket, { requestId, version, reply }: TurnedAway): void => {
  if (!socket.writable) return void socket.destroy()
  const { status, body, headers } = reply
  const lines = Object.entries({
    ...standingHeaders(requestId, version),
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
