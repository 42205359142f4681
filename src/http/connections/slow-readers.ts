import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { heldBytes } from '../response-bytes.ts'

/** A client that reads a response slower than this on average, after a grace period, is cut off. */
const leastBytesPerSecond = 16 * 1024
const graceMs = 30_000
const checkMs = 1_000
/** Unread responses in memory; beyond, the one that waits longest is dropped. */
const maxUnreadBytes = 16 * 1024 * 1024

interface Unread {
  readonly socket: Socket
  readonly bytes: number
  readonly endsMs: number
}

interface SlowReaders {
  /** Cuts off the client that has been reading its response for longest; false without one. */
  cutOldest(): boolean
  stop(): void
}

/**
 * Limits the cost of unread responses: in time by their length, in bytes together. It begins when a handler has
 * ended its response; what is streamed before that waits in its source.
 */
export const boundSlowReaders = (server: Server): SlowReaders => {
  const unread = new Map<ServerResponse, Unread>()
  let unreadBytes = 0

  const forget = (response: ServerResponse): void => {
    unreadBytes -= unread.get(response)?.bytes ?? 0
    unread.delete(response)
  }
  const cut = (response: ServerResponse): void => {
    const { socket } = unread.get(response) ?? {}
    forget(response)
    socket?.destroy()
  }
  const cutOldest = (): boolean => {
    const [oldest] = unread.keys()
    if (oldest) cut(oldest)
    return oldest !== undefined
  }
  const watch = (socket: Socket, response: ServerResponse): void => {
    const waiting = socket.writableLength
    // Usually the system took it all.
    if (waiting === 0 || unread.has(response)) return
    const bytes = heldBytes.get(response) ?? waiting
    const endsMs = performance.now() + graceMs + (waiting / leastBytesPerSecond) * 1000
    unread.set(response, { socket, bytes, endsMs })
    unreadBytes += bytes
    response.once('close', () => forget(response))
    while (unreadBytes > maxUnreadBytes && cutOldest());
  }
  const onRequest = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    response.once('prefinish', () => watch(socket, response))
  }
  server.on('request', onRequest).on('checkContinue', onRequest).on('checkExpectation', onRequest)
  const timer = setInterval(() => {
    const nowMs = performance.now()
    for (const [response, { endsMs }] of unread) if (endsMs <= nowMs) cut(response)
  }, checkMs)
  timer.unref()
  return { cutOldest, stop: () => clearInterval(timer) }
}
