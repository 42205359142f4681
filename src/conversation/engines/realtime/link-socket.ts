import { WebSocket } from 'ws'
import type { ClientEvent } from './protocol.ts'

/** The socket of one session: sending, receiving, liveness, and its end. */
export interface LinkSocket {
  send(event: ClientEvent): void
  /** An `input_audio_buffer.append`, as bytes. The connection counts as lost when the network accepts no more. */
  sendAudio(message: Buffer): void
  /** Milliseconds since the server's last message. */
  readonly silentForMs: number
  /** Drops the connection: nothing more is received or sent. Safe twice. */
  terminate(): void
  /** Closes with a handshake, within two seconds. */
  close(): Promise<void>
}

interface LinkSocketListener {
  onMessage(text: string): void
  /** Not after `terminate` or `close`. */
  onLost(code: string, message: string): void
  /** Every few seconds while the connection is open. */
  onCheck(): void
}

/** About half a minute of audio that the network did not take. */
const maxSendBufferBytes = 256 * 1024
const pingPeriodMs = 5_000
const closeLimitMs = 1_500
const normalClosure = 1_000

/** Owns the socket from here on. */
export const createLinkSocket = (socket: WebSocket, listener: LinkSocketListener): LinkSocket => {
  let isOver = false
  let isAlive = true
  let heardAt = performance.now()

  const end = (): void => {
    isOver = true
    clearInterval(pinging)
  }

  const lose = (code: string, message: string): void => {
    if (!isOver) listener.onLost(code, message)
  }

  const pinging = setInterval(() => {
    if (!isAlive) return lose('connection_lost', 'The server no longer answers.')
    isAlive = false
    socket.ping()
    listener.onCheck()
  }, pingPeriodMs)
  pinging.unref()

  socket.on('message', (data: Buffer) => {
    isAlive = true
    heardAt = performance.now()
    if (!isOver) listener.onMessage(data.toString('utf8'))
  })
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('error', (error) => lose('connection_error', error.message))
  socket.on('close', (code) => lose('connection_closed', `The server closed with ${code}.`))

  return {
    send(event) {
      if (!isOver) socket.send(JSON.stringify(event))
    },
    sendAudio(message) {
      if (socket.bufferedAmount > maxSendBufferBytes) {
        return lose('connection_stalled', 'The server takes no more audio.')
      }
      // Bytes are masked in the message's one buffer; a string would be sent in two pieces by a costlier call.
      if (!isOver) socket.send(message, { binary: false })
    },
    get silentForMs() {
      return performance.now() - heardAt
    },
    terminate() {
      end()
      socket.terminate()
    },
    async close() {
      end()
      if (socket.readyState === WebSocket.CLOSED) return
      await new Promise<void>((resolve) => {
        const deadline = setTimeout(() => socket.terminate(), closeLimitMs)
        socket.once('close', () => {
          clearTimeout(deadline)
          resolve()
        })
        socket.close(normalClosure)
      })
    },
  }
}
