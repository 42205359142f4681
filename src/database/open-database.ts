import pg from 'pg'
import type { Logger } from '../runtime/logger.ts'
import { sql, type Database } from './database.ts'
import { DatabaseBusyError, spoilsConnection } from './errors.ts'
import { createHintSender, type Hint } from './hints.ts'
import { createListener } from './listener.ts'
import { queryableOver, runTransaction, sendStatement, type Query } from './transaction.ts'
import { valueTypes } from './value-types.ts'

export interface DatabaseOptions {
  /** Where PostgreSQL is: `{ connectionString }`, or host, port, user, password and database. */
  readonly connection: pg.ClientConfig
  readonly logger: Logger
  /** Connections of the pool; one more listens. */
  readonly maxConnections?: number
  /** The server gives up a statement after this time (SQLSTATE 57014). */
  readonly statementTimeoutMs?: number
  /** How often the listening connection proves that notifications still arrive. */
  readonly probeIntervalMs?: number
  /** How long `stop` waits for running transactions before it cuts their connections. */
  readonly stopTimeoutMs?: number
}

const defaultMaxConnections = 20
const defaultStatementTimeoutMs = 30_000
/**
 * A process that is paused, or cut off, amid a transaction keeps its row locks no longer than this: others must be able
 * to take its calls. Our own transactions wait for nothing but the database.
 */
const idleInTransactionTimeoutMs = 8_000
/** A statement unanswered for this much longer than its timeout means a dead connection. */
const answerGraceMs = 5_000
/** How long a caller waits for a connection. */
const acquireTimeoutMs = 10_000
/** Callers that may wait for a connection at one time. */
const maxWaitingCallers = 10_000
const idleTimeoutMs = 60_000
const defaultStopTimeoutMs = 5_000

/**
 * A pool over PostgreSQL (any version from 15). Nothing connects before it is needed, and each call looks
 * for a lost server anew, so a failover only shows as errors for which `isRetryable` is true.
 */
export const openDatabase = (options: DatabaseOptions): Database => {
  const { logger, connection, probeIntervalMs, stopTimeoutMs = defaultStopTimeoutMs } = options
  const pool = new pg.Pool(poolConfig(options))
  // For its whole life: in the moment between loan and return nobody else listens, and an unheard error ends the process.
  pool.on('connect', (client) => client.on('error', ignore))
  pool.on('error', (error) => {
    // `pool.end` does not wait for its sockets: the server may end before they have said goodbye.
    if (!stopping) logger.warn({ err: error }, 'idle database connection lost')
  })
  const lending = createLending(pool)

  const query: Query = async (statement, values) => {
    const client = await lending.acquire()
    let isSpoilt = false
    try {
      return await sendStatement(client, statement, values)
    } catch (error) {
      isSpoilt = spoilsConnection(error)
      throw error
    } finally {
      lending.release(client, isSpoilt)
    }
  }

  const transaction: Database['transaction'] = async (work) => {
    const client = await lending.acquire()
    const outcome = await runTransaction(client, work)
    lending.release(client, outcome.kind === 'failed' && outcome.isConnectionSpoilt)
    if (outcome.kind === 'failed') throw outcome.error
    runHooks(outcome.afterCommit, logger)
    return outcome.result
  }

  const listener = createListener({
    connection,
    logger,
    ...(probeIntervalMs === undefined ? {} : { probeIntervalMs }),
  })
  const hints = createHintSender((due) => query(notify, notifyValues(due)), logger)
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    await Promise.all([hints.stop(), listener.stop()])
    const cutTimer = setTimeout(() => lending.cutAll(), stopTimeoutMs)
    await pool.end().finally(() => clearTimeout(cutTimer))
  }

  return {
    ...queryableOver(query),
    transaction,
    listen: (channel, onPayload) => listener.listen(channel, onPayload),
    // This process hears of it at once; the notification is for the others, and comes back as one more harmless hint.
    hint: (channel, payload = '') => {
      listener.deliver(channel, payload)
      hints.hint(channel, payload)
    },
    stop: () => (stopping ??= stop()),
  }
}

const poolConfig = (options: DatabaseOptions): pg.PoolConfig => {
  const statementTimeoutMs = options.statementTimeoutMs ?? defaultStatementTimeoutMs
  return {
    application_name: 'outdial',
    ...options.connection,
    // Statements go out without waiting for the answers of those before them.
    pipeline: true,
    max: options.maxConnections ?? defaultMaxConnections,
    types: valueTypes,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + answerGraceMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    connectionTimeoutMillis: acquireTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    // Timestamps that are selected as text are in UTC, whatever the server is set to.
    options: '-c TimeZone=UTC',
  }
}

interface Lending {
  acquire(): Promise<pg.PoolClient>
  release(client: pg.PoolClient, isSpoilt: boolean): void
  cutAll(): void
}

/** Knows which connections are out, so that `stop` can end those that do not come back. */
const createLending = (pool: pg.Pool): Lending => {
  const lent = new Set<pg.PoolClient>()
  return {
    async acquire() {
      if (pool.waitingCount >= maxWaitingCallers)
        throw new DatabaseBusyError('Too many callers wait for a database connection.')
      const client = await pool.connect()
      client.on('error', ignore)
      lent.add(client)
      return client
    },
    release(client, isSpoilt) {
      lent.delete(client)
      client.off('error', ignore)
      client.release(isSpoilt)
    },
    cutAll() {
      for (const client of lent) client.connection.stream.destroy()
    },
  }
}

/** A socket error of a lent connection reaches every statement on it; as an event it would end the process. */
const ignore = (): void => {}

const notify = sql(
  'database.notify',
  'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as hint (channel, payload)',
)

const notifyValues = (hints: readonly Hint[]): readonly unknown[] => [
  hints.map(({ channel }) => channel),
  hints.map(({ payload }) => payload),
]

const runHooks = (hooks: readonly (() => void)[], logger: Logger): void => {
  for (const hook of hooks) {
    try {
      hook()
    } catch (error) {
      logger.error({ err: error }, 'after-commit hook failed')
    }
  }
}
