import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { soleHeader } from './request-head.ts'

/** Bytes behind the running request that one connection may have in memory; a read of the socket brings 64 KiB. */
const maxHeldBytes = 512 * 1024
/** The same of all connections. Beyond, those that pipeline more are cut off. */
const maxHeldBytesOfAll = 16 * 1024 * 1024

/** Stops reading a connection: what it still sends is thrown away. */
type StopReading = (socket: Socket) => void

interface Passages {
  readonly stopReading: StopReading
  /** Lets go of a connection that speaks another protocol from now on; returns what was read of that already. */
  readonly release: (socket: Socket) => Buffer
}

/**
 * Gives a connection's requests to Node's parser one at a time: the next head is parsed once the previous response
 * is written, and until then the socket is not read. Node alone would parse a whole read, so that 41 kB of
 * pipelined requests became a thousand active ones. Register it before other listeners of `request`.
 */
export const serveOneAtATime = (server: Server): Passages => {
  const passages = new WeakMap<Socket, Passage>()
  const heldOfAll = { bytes: 0 }
  server.on('connection', (socket: Socket) => {
    passages.set(socket, new Passage(socket, heldOfAll))
  })
  const begin = (request: IncomingMessage, response: ServerResponse): void =>
    passages.get(request.socket)?.begin(request, response)
  server.on('request', begin).on('checkContinue', begin).on('checkExpectation', begin)
  const stopReading: StopReading = (socket) => passages.get(socket)?.stop()
  // Nothing behind what the parser gave up on can be trusted to be where it says.
  server.on('clientError', (_error, socket: Socket) => stopReading(socket))
  server.on('connect', (_request, socket: Socket) => stopReading(socket))
  return { stopReading, release: (socket) => passages.get(socket)?.release() ?? nothing }
}

interface Running {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** What is to come of a body of declared length. */
  restBytes: number | undefined
}

const nothing = Buffer.alloc(0)

/** One connection: its bytes on their way from the socket to the parser. */
class Passage {
  readonly #socket: Socket
  readonly #heldOfAll: { bytes: number }
  readonly #parse: (bytes: Buffer) => void
  readonly #finish: () => void
  readonly #blocks = createBlockFinder()
  #held: Buffer = nothing
  #running: Running | undefined
  #isPassing = false
  #isPaused = false
  #isEnded = false
  #isStopped = false
  #isReleased = false
  readonly #onBytes = (bytes: Buffer): void => this.#onData(bytes)
  readonly #onLast = (): void => this.#onEnd()

  constructor(socket: Socket, heldOfAll: { bytes: number }) {
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[]
    // The socket's own listener comes first.
    const finish = socket.listeners('end').at(-1) as (() => void) | undefined
    if (!parse || !finish) throw new Error('This Node attaches its HTTP parser in another way.')
    this.#socket = socket
    this.#heldOfAll = heldOfAll
    this.#parse = parse
    this.#finish = finish
    socket.removeListener('data', parse)
    socket.removeListener('end', finish)
    socket.on('data', this.#onBytes)
    socket.once('end', this.#onLast)
    socket.once('close', () => this.#onClose())
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#running = { request, response, restBytes: declaredBytes(request) }
    response.once('close', () => this.#pass())
  }

  stop(): void {
    this.#isStopped = true
    if (!this.#isPassing) this.#settle()
  }

  release(): Buffer {
    const rest = this.#held
    this.#isStopped = true
    this.#isReleased = true
    this.#hold(nothing)
    this.#socket.off('data', this.#onBytes)
    this.#socket.off('end', this.#onLast)
    return rest
  }

  #onData(bytes: Buffer): void {
    if (this.#isStopped) return
    this.#hold(this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]))
    this.#pass()
  }

  #onEnd(): void {
    this.#isEnded = true
    this.#settle()
  }

  #onClose(): void {
    this.#isStopped = true
    this.#hold(nothing)
  }

  #hold(bytes: Buffer): void {
    this.#heldOfAll.bytes += bytes.length - this.#held.length
    this.#held = bytes
  }

  get #isServing(): boolean {
    const running = this.#running
    return running !== undefined && running.request.complete && !running.response.closed
  }

  /** How much may be parsed without reaching beyond the end of a request. */
  #pieceLength(): number {
    const running = this.#running
    if (!running || running.request.complete || running.restBytes === undefined)
      return this.#blocks.endOfBlock(this.#held)
    const length = Math.min(running.restBytes, this.#held.length)
    running.restBytes -= length
    return length
  }

  #pass(): void {
    if (this.#isPassing) return
    this.#isPassing = true
    while (this.#held.length > 0 && !this.#isStopped && !this.#isServing) {
      const piece = this.#held.subarray(0, this.#pieceLength())
      this.#hold(this.#held.subarray(piece.length))
      this.#parse(piece)
    }
    this.#isPassing = false
    this.#settle()
  }

  #settle(): void {
    if (this.#isReleased) return
    if (this.#isStopped) this.#hold(nothing)
    if (this.#held.length > maxHeldBytes || this.#heldOfAll.bytes > maxHeldBytesOfAll) {
      this.#hold(nothing)
      return void this.#socket.destroy()
    }
    if (this.#held.length > 0) {
      this.#isPaused = true
      this.#socket.pause()
    } else if (this.#isPaused) {
      this.#isPaused = false
      this.#socket.resume()
    }
    if (this.#isEnded && !this.#isServing) this.#end()
  }

  /** The parser closes the connection at once, so it must wait for a pending response. */
  #end(): void {
    this.#isEnded = false
    this.#finish()
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
