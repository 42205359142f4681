import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { backoffMs } from '../runtime/backoff.ts'
import type { Logger } from '../runtime/logger.ts'

/** A probe that has not come back after this time means a dead connection. */
const defaultProbeIntervalMs = 5_000
/** A connection that does not open in this time is given up. */
const connectTimeoutMs = 5_000
const reconnectBackoff = { baseMs: 100, maxMs: 5_000 }

type OnPayload = (payload: string) => void

export interface Listener {
  /** Resolves after the first attempt to listen, successful or not: attempts go on in the background. */
  listen(channel: string, onPayload: OnPayload): Promise<{ stop(): Promise<void> }>
  /** Tells this process's own subscribers at once, without a way through PostgreSQL. */
  deliver(channel: string, payload: string): void
  stop(): Promise<void>
}

export interface ListenerOptions {
  readonly connection: pg.ClientConfig
  readonly logger: Logger
  readonly probeIntervalMs?: number
}

interface ListeningConnection {
  listen(channel: string): Promise<void>
  unlisten(channel: string): Promise<void>
  close(): void
}

/**
 * One connection that LISTENs for all channels of this process, opened by the first of them and
 * opened again, with growing delays, whenever it is lost.
 */
export const createListener = (options: ListenerOptions): Listener => {
  const { logger } = options
  const subscribers = new Map<string, Set<OnPayload>>()
  let current: ListeningConnection | undefined
  let connecting: Promise<void> | undefined
  let retryTimer: NodeJS.Timeout | undefined
  let failures = 0
  let stopped = false

  const deliver = (channel: string, payload: string): void => {
    for (const onPayload of subscribers.get(channel) ?? []) {
      try {
        onPayload(payload)
      } catch (error) {
        logger.error({ err: error, channel }, 'notification handler failed')
      }
    }
  }

  const onLost = (reason: unknown): void => {
    current = undefined
    if (stopped || connecting) return
    failures += 1
    logger.warn({ err: reason, failures }, 'not listening for notifications')
    const delayMs = backoffMs(failures, reconnectBackoff)
    retryTimer = setTimeout(() => void connect(), delayMs)
  }

  const open = async (): Promise<void> => {
    const opened = await openListeningConnection(options, deliver, onLost)
    const listened = new Set<string>()
    const next = () => [...subscribers.keys()].find((channel) => !listened.has(channel))
    for (let channel = next(); channel !== undefined; channel = next()) {
      await opened.listen(channel)
      listened.add(channel)
    }
    if (stopped) return opened.close()
    current = opened
    failures = 0
    // Whatever was notified while nobody listened is lost: everybody looks for themselves.
    for (const channel of listened) deliver(channel, '')
  }

  const connect = (): Promise<void> => {
    connecting ??= open().then(
      () => {
        connecting = undefined
      },
      (error: unknown) => {
        connecting = undefined
        onLost(error)
      },
    )
    return connecting
  }

  const subscribe = async (channel: string): Promise<void> => {
    if (!current) return connecting ?? (retryTimer && failures > 0 ? undefined : connect())
    await current.listen(channel).catch(() => {})
    deliver(channel, '')
  }

  const unsubscribe = async (channel: string, onPayload: OnPayload): Promise<void> => {
    const handlers = subscribers.get(channel)
    handlers?.delete(onPayload)
    if (handlers?.size !== 0) return
    subscribers.delete(channel)
    await current?.unlisten(channel).catch(() => {})
  }

  return {
    deliver,
    async listen(channel, onPayload) {
      const handlers = subscribers.get(channel)
      if (handlers) handlers.add(onPayload)
      else subscribers.set(channel, new Set([onPayload]))
      await subscribe(channel)
      return { stop: () => unsubscribe(channel, onPayload) }
    },
    async stop() {
      stopped = true
      clearTimeout(retryTimer)
      await connecting
      current?.close()
      current = undefined
    },
  }
}

/**
 * A connection that proves itself by a NOTIFY of its own, because a half-open socket and a
 * transaction pooler both swallow notifications silently. `onLost` is called once, unless it was closed by us.
 */
const openListeningConnection = async (
  { connection, probeIntervalMs = defaultProbeIntervalMs }: ListenerOptions,
  onNotification: (channel: string, payload: string) => void,
  onLost: (reason: unknown) => void,
): Promise<ListeningConnection> => {
  const probeChannel = `outdial_probe_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'outdial listener',
  })
  let isOpen = true
  let isProbeOut = false
  let probeTimer: NodeJS.Timeout | undefined

  const close = (): void => {
    isOpen = false
    clearInterval(probeTimer)
    client.end().catch(() => {})
    // A half-open socket never answers our goodbye; nothing is owed to a healthy one either.
    client.connection.stream.destroy()
  }
  const lose = (reason: unknown): void => {
    if (!isOpen) return
    close()
    onLost(reason)
  }
  const probe = (): void => {
    if (isProbeOut) return lose(new Error('the probe notification did not come back'))
    isProbeOut = true
    client.query('select pg_notify($1, $2)', [probeChannel, '']).catch(lose)
  }

  client.on('error', lose)
  client.on('notification', ({ channel, payload }) => {
    if (channel === probeChannel) isProbeOut = false
    else onNotification(channel, payload ?? '')
  })
  try {
    await client.connect()
    await client.query(`listen ${client.escapeIdentifier(probeChannel)}`)
  } catch (error) {
    close()
    throw error
  }
  probeTimer = setInterval(probe, probeIntervalMs)
  return {
    listen: async (channel) => {
      await client.query(`listen ${client.escapeIdentifier(channel)}`)
    },
    unlisten: async (channel) => {
      await client.query(`unlisten ${client.escapeIdentifier(channel)}`)
    },
    close,
  }
}
