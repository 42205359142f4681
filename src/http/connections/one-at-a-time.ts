import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { soleHeader } from './request-head.ts'

/** Bytes behind the running request that one connection may have in memory; a read of the socket brings 64 KiB. */
const maxHeldBytes = 512 * 1024
/** The same of all connections. Beyond, those that pipeline more are cut off. */
const maxHeldBytesOfAll = 16 * 1024 * 1024

/** Stops reading a connection: what it still sends is thrown away. */
export type StopReading = (socket: Socket) => void

/**
 * Gives a connection's requests to Node's parser one at a time: the next head is parsed once the answer before it is
 * written, and until then the socket is not read. Node alone parses all that a read brought, so that 41 kB of pipelined
 * requests were a thousand running ones. Register it before other listeners of `request`.
 */
export const serveOneAtATime = (server: Server): StopReading => {
  const passages = new WeakMap<Socket, Passage>()
  const heldOfAll = { bytes: 0 }
  server.on('connection', (socket: Socket) => {
    passages.set(socket, openPassage(socket, heldOfAll))
  })
  const begin = (request: IncomingMessage, response: ServerResponse): void =>
    passages.get(request.socket)?.begin(request, response)
  server.on('request', begin).on('checkContinue', begin).on('checkExpectation', begin)
  const stopReading: StopReading = (socket) => passages.get(socket)?.stop()
  // Nothing behind what the parser gave up on can be trusted to be where it says.
  server.on('clientError', (_error, socket: Socket) => stopReading(socket))
  server.on('connect', (_request, socket: Socket) => stopReading(socket))
  return stopReading
}

interface Passage {
  begin(request: IncomingMessage, response: ServerResponse): void
  stop(): void
}

interface Running {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** What is to come of a body of declared length. */
  restBytes: number | undefined
}

const nothing = Buffer.alloc(0)

const openPassage = (socket: Socket, heldOfAll: { bytes: number }): Passage => {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
  // The socket's own listener comes first.
  const finish = socket.listeners('end').at(-1) as (() => void) | undefined
  if (!parse || !finish) throw new Error('This Node attaches its HTTP parser in another way.')
  const blocks = createBlockFinder()
  let held: Buffer = nothing
  let running: Running | undefined
  let isPassing = false
  let isPaused = false
  let isEnded = false
  let isStopped = false

  const hold = (bytes: Buffer): void => {
    heldOfAll.bytes += bytes.length - held.length
    held = bytes
  }
  const isServing = (): boolean =>
    running !== undefined && running.request.complete && !running.response.closed

  /** How much may be parsed without reaching beyond the end of a request. */
  const pieceLength = (): number => {
    if (!running || running.request.complete || running.restBytes === undefined)
      return blocks.endOfBlock(held)
    const length = Math.min(running.restBytes, held.length)
    running.restBytes -= length
    return length
  }

  const pass = (): void => {
    if (isPassing) return
    isPassing = true
    while (held.length > 0 && !isStopped && !isServing()) {
      const piece = held.subarray(0, pieceLength())
      hold(held.subarray(piece.length))
      parse(piece)
    }
    isPassing = false
    settle()
  }

  const settle = (): void => {
    if (isStopped) hold(nothing)
    if (held.length > maxHeldBytes || heldOfAll.bytes > maxHeldBytesOfAll) {
      hold(nothing)
      return void socket.destroy()
    }
    if (held.length > 0) {
      isPaused = true
      socket.pause()
    } else if (isPaused) {
      isPaused = false
      socket.resume()
    }
    if (isEnded && !isServing()) end()
  }

  /** The parser closes the connection at once: not while an answer is still to be written. */
  const end = (): void => {
    isEnded = false
    finish()
  }

  const onData = (bytes: Buffer): void => {
    if (isStopped) return
    hold(held.length === 0 ? bytes : Buffer.concat([held, bytes]))
    pass()
  }

  socket.removeListener('data', parse)
  socket.removeListener('end', finish)
  socket.on('data', onData)
  socket.once('end', () => {
    isEnded = true
    settle()
  })
  socket.once('close', () => {
    isStopped = true
    hold(nothing)
  })
  return {
    begin(request, response) {
      running = { request, response, restBytes: declaredBytes(request) }
      response.once('close', pass)
    },
    stop() {
      isStopped = true
      if (!isPassing) settle()
    },
  }
}

const declaredBytes = (request: IncomingMessage): number | undefined => {
  const length = Number(soleHeader(request, 'content-length') ?? 0)
  // A piece of no bytes would never come to an end.
  return length > 0 ? length : undefined
}

const blankLine = Buffer.from('\r\n\r\n')

/** Finds the blank lines at which a head, or a body in chunks, can end, also where one lies across two reads. */
const createBlockFinder = () => {
  /** The last bytes since the latest blank line, fewer than one takes. */
  let tail: Buffer = nothing
  return {
    /** The length up to and with the first blank line; all of it where there is none. */
    endOfBlock(bytes: Buffer): number {
      if (tail.length > 0) {
        const seam = Buffer.concat([tail, bytes.subarray(0, blankLine.length - 1)])
        const found = seam.indexOf(blankLine)
        if (found !== -1) return endAt(found + blankLine.length - tail.length)
      }
      const found = bytes.indexOf(blankLine)
      if (found !== -1) return endAt(found + blankLine.length)
      // A copy, so that three bytes keep no read of 64 KiB in memory.
      tail = Buffer.concat([tail, bytes.subarray(-3)]).subarray(-3)
      return bytes.length
    },
  }

  function endAt(length: number): number {
    tail = nothing
    return length
  }
}
