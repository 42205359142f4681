import { once } from 'node:events'
import { isIPv6, type Socket } from 'node:net'
import { MessageFramer } from '../message/message-framer.ts'
import type { Source } from './transport.ts'

/** One open TCP or TLS connection, whoever opened it. */
export interface StreamConnection {
  readonly socket: Socket
  /** When bytes last came (`performance.now()`). */
  readonly heardAtMs: number
  /** Whether any bytes came. */
  readonly hasHeard: boolean
  /** Called for each arrival of bytes, before their messages; `isPong`: nothing but one CRLF. */
  onHeard: (isPong: boolean) => void
}

type StreamSource = Omit<Source, 'protocol'>

// Bytes that a peer may leave unread before we drop the connection.
const maxUnsentBytes = 1024 * 1024

/** Reads the messages of a socket. A stream whose message borders are lost is closed. */
export const readConnection = (
  socket: Socket,
  receive: (bytes: Buffer, source: StreamSource) => void,
): StreamConnection => {
  const framer = new MessageFramer(() => socket.write('\r\n'))
  let source: StreamSource | undefined
  let heardAtMs = performance.now()
  let hasHeard = false
  const connection: StreamConnection = {
    socket,
    get heardAtMs() {
      return heardAtMs
    },
    get hasHeard() {
      return hasHeard
    },
    onHeard: () => {},
  }
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes: Buffer) => {
    source ??= sourceOf(socket)
    heardAtMs = performance.now()
    hasHeard = true
    connection.onHeard(bytes.length === 2 && bytes[0] === 13 && bytes[1] === 10)
    try {
      for (const message of framer.push(bytes)) receive(message, source)
    } catch {
      // The message borders are lost: nothing after this point can be trusted.
      socket.destroy()
    }
  })
  return connection
}

// Read while the socket is open: a closed one no longer knows its peer.
export const sourceOf = (socket: Socket): StreamSource => ({
  address: plainAddress(socket.remoteAddress ?? ''),
  port: socket.remotePort ?? 0,
  reply: (bytes) => writeTo(socket, bytes),
})

/** A dual-stack listener reports IPv4 peers as ::ffff:192.0.2.1. */
export const plainAddress = (address: string): string =>
  isIPv6(address) ? address.replace(/^::ffff:(?=\d+\.)/i, '') : address

export const writeTo = (socket: Socket, bytes: Buffer): Promise<void> => {
  if (socket.writableLength > maxUnsentBytes) socket.destroy()
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => {
      if (error === null || error === undefined) resolve()
      else reject(error)
    })
  })
}

/** Resolves when the connection is open (and secure). */
export const awaitConnection = async (
  socket: Socket,
  connectedEvent: 'connect' | 'secureConnect',
  timeoutMs: number,
): Promise<void> => {
  try {
    await once(socket, connectedEvent, { signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    socket.destroy()
    throw error
  }
}
