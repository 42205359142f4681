import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** A probe that has not come back after this time means a dead connection. */
const defaultProbeIntervalMs = 5_000
/** A connection that does not open in this time is abandoned. */
const connectTimeoutMs = 5_000

export interface ListeningConnection {
  listen(channel: string): Promise<void>
  unlisten(channel: string): Promise<void>
  close(): void
}

export interface ListeningConnectionOptions {
  readonly connection: pg.ClientConfig
  readonly probeIntervalMs?: number
}

/**
 * A connection that checks itself by its own NOTIFY, because a half-open socket and a transaction pooler both
 * swallow notifications silently. `onLost` is called once, unless we closed it.
 */
export const openListeningConnection = async (
  { connection, probeIntervalMs = defaultProbeIntervalMs }: ListeningConnectionOptions,
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
    // A half-open socket never confirms our close; a healthy one does not need the wait either.
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
