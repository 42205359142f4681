import type { WebSocket } from 'ws'
import { EngineOpenError } from '../../engine/voice-engine.ts'
import { codeOf } from './link-loss.ts'
import { parseServerEvent, type ServerEvent } from './protocol.ts'

/** The server's messages while the session is being opened. */
export interface Inbox {
  readonly opened: Promise<void>
  /**
   * The next event of one of these types; `undefined` if none comes in time. Rejects when the socket ends or the
   * signal aborts.
   */
  next(types: readonly ServerEvent['type'][], limitMs: number): Promise<ServerEvent | undefined>
  /** Forgets the events of this type that were not asked for. */
  drop(type: ServerEvent['type']): void
  /**
   * The `error` listener stays until the session has its own: an error without a listener would end the process.
   */
  close(): void
}

const maxEarlyEvents = 16

export const createInbox = (socket: WebSocket, signal: AbortSignal): Inbox => {
  let early: ServerEvent[] = []
  const broken = Promise.withResolvers<never>()
  const opened = Promise.withResolvers<void>()
  broken.promise.catch(() => undefined)
  let take: ((event: ServerEvent) => boolean) | undefined

  const onMessage = (data: Buffer): void => {
    const event = parseServerEvent(data.toString('utf8'))
    if (!event || take?.(event)) return
    if (early.length < maxEarlyEvents) early.push(event)
  }
  // A server that is full says so before it closes.
  const onClose = (code: number): void => {
    const told = early.find((event) => event.type === 'error')
    broken.reject(
      told?.type === 'error'
        ? new EngineOpenError(codeOf(told.error), told.error.message ?? 'Refused.')
        : new EngineOpenError('connection_closed', `The server closed with ${code}.`),
    )
  }
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an abort reason is whatever the caller gave.
  const onAbort = (): void => broken.reject(signal.reason)
  socket.on('open', () => opened.resolve())
  socket.on('message', onMessage)
  socket.on('close', onClose)
  socket.on('error', (cause) =>
    broken.reject(
      new EngineOpenError('connection_error', 'The server cannot be reached.', { cause }),
    ),
  )
  signal.addEventListener('abort', onAbort, { once: true })

  return {
    opened: Promise.race([opened.promise, broken.promise]),
    async next(types, limitMs) {
      const at = early.findIndex(({ type }) => types.includes(type))
      if (at >= 0) return early.splice(at, 1)[0]
      const found = Promise.withResolvers<ServerEvent | undefined>()
      const limit = setTimeout(() => found.resolve(undefined), limitMs)
      take = (event) => {
        const fits = types.includes(event.type)
        if (!fits) return false
        // The event behind it may have come in the same packet.
        take = undefined
        found.resolve(event)
        return true
      }
      try {
        return await Promise.race([found.promise, broken.promise])
      } finally {
        clearTimeout(limit)
        take = undefined
      }
    },
    drop(type) {
      early = early.filter((event) => event.type !== type)
    },
    close() {
      signal.removeEventListener('abort', onAbort)
      socket.off('message', onMessage)
      socket.off('close', onClose)
    },
  }
}
