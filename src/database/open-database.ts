import pg from 'pg'
import type { Logger } from '../runtime/logger.ts'
import { sql, type Database } from './database.ts'
import { spoilsConnection } from './errors.ts'
import { createHintSender, type Hint } from './hints.ts'
import { createLending, type Lending } from './lending.ts'
import { NotificationListener } from './notification-listener.ts'
import { createLists, listSettings, listTimeoutMs, maxListConnections } from './lists.ts'
import { createLookups } from './lookups.ts'
import { queryableOver, runTransaction, sendStatement, type Query } from './transaction.ts'
import { valueTypes } from './value-types.ts'

interface DatabaseOptions {
  /** PostgreSQL's address: `{ connectionString }`, or host, port, user, password and database. */
  readonly connection: pg.ClientConfig
  readonly logger: Logger
  /** Connections of the pool; one more listens, and a few read lists. */
  readonly maxConnections?: number
  /** The server cancels a statement after this time (SQLSTATE 57014). */
  readonly statementTimeoutMs?: number
  /** How often the listening connection checks that notifications still arrive. */
  readonly probeIntervalMs?: number
  /** How long `stop` waits for running transactions before it cuts their connections. */
  readonly stopTimeoutMs?: number
}

/** For all connections of one pool: ` -c name=value`, once or more. */
interface PoolOptions extends DatabaseOptions {
  readonly settings?: string
}

/**
 * Statements find their rows by an index, one by one. Without good statistics the planner would scan whole tables,
 * and keep that plan: after the first rows of a new installation, and before the first statistics of a table that
 * has grown.
 */
const planSettings = ' -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'

const defaultMaxConnections = 20
const defaultStatementTimeoutMs = 30_000
/**
 * A process that is paused, or cut off, during a transaction keeps its row locks no longer than this, so that
 * others can take its calls. Our own transactions wait only for the database.
 */
const idleInTransactionTimeoutMs = 8_000
/** A statement without a response for this much longer than its timeout means a dead connection. */
const answerGraceMs = 5_000
/** How long a caller waits for a connection. */
const acquireTimeoutMs = 10_000
const idleTimeoutMs = 60_000
const defaultStopTimeoutMs = 5_000

/**
 * A pool over PostgreSQL (any version from 15). It connects only when needed, and each call looks for a lost server
 * again, so a failover shows only as errors for which `isRetryable` is true.
 */
export const openDatabase = (options: DatabaseOptions): Database => {
  const { logger, connection, probeIntervalMs } = options
  const pools = openPools(options)
  const query = queryOver(pools)
  const listener = new NotificationListener({
    connection,
    logger,
    ...(probeIntervalMs === undefined ? {} : { probeIntervalMs }),
  })
  const hints = createHintSender((due) => query(notify, notifyValues(due)), logger)
  // This process is notified at once; the notification is for the others, and comes back as one more harmless hint.
  const hint: Database['hint'] = (channel, payload = '') => {
    listener.deliver(channel, payload)
    hints.hint(channel, payload)
  }
  const transaction: Database['transaction'] = async (work) => {
    const { lending } = pools.work
    const client = await lending.acquire()
    const outcome = await runTransaction(client, hint, work)
    lending.release(client, outcome.kind === 'failed' && outcome.isConnectionSpoilt)
    if (outcome.kind === 'failed') throw outcome.error
    runHooks(outcome.afterCommit, logger)
    return outcome.result
  }
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    pools.isClosing = true
    await Promise.all([hints.stop(), listener.stop()])
    await closePools(pools, options.stopTimeoutMs ?? defaultStopTimeoutMs)
  }
  return {
    ...queryableOver(query),
    transaction,
    listen: (channel, onPayload) => listener.listen(channel, onPayload),
    hint,
    stop: () => (stopping ??= stop()),
  }
}

interface Pool {
  readonly pool: pg.Pool
  readonly lending: Lending
}

interface Pools {
  readonly work: Pool
  readonly lists: Pool
  isClosing: boolean
}

const openPools = (options: DatabaseOptions): Pools => {
  const open = (of: PoolOptions): Pool => {
    const pool = new pg.Pool(poolConfig(of))
    pool.on('error', (error) => {
      // `pool.end` does not wait for its sockets: the server may end before they are closed.
      if (!pools.isClosing) options.logger.warn({ err: error }, 'idle database connection lost')
    })
    return { pool, lending: createLending(pool) }
  }
  const pools: Pools = {
    work: open({ ...options, settings: planSettings }),
    lists: open({
      ...options,
      maxConnections: Math.min(maxListConnections, options.maxConnections ?? maxListConnections),
      statementTimeoutMs: listTimeoutMs,
      settings: listSettings,
    }),
    isClosing: false,
  }
  return pools
}

/** Running transactions end first; after the timeout their connections are cut. */
const closePools = async ({ work, lists }: Pools, timeoutMs: number): Promise<void> => {
  const cutTimer = setTimeout(() => {
    work.lending.cutAll()
    lists.lending.cutAll()
  }, timeoutMs)
  await Promise.all([work.pool.end(), lists.pool.end()]).finally(() => clearTimeout(cutTimer))
}

/** Sends a statement outside of transactions, over the connections of its kind. */
const queryOver = ({ work: { lending }, lists }: Pools): Query => {
  const lookUp = createLookups(lending)
  const readList = createLists(lists.lending)
  return async (statement, values) => {
    if (statement.isLookup) return lookUp(statement, values)
    if (statement.isList) return readList(statement, values)
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
}

const poolConfig = (options: PoolOptions): pg.PoolConfig => {
  const statementTimeoutMs = options.statementTimeoutMs ?? defaultStatementTimeoutMs
  return {
    application_name: 'outdial',
    ...options.connection,
    // Statements are sent without waiting for the results of those before them.
    pipeline: true,
    max: options.maxConnections ?? defaultMaxConnections,
    types: valueTypes,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + answerGraceMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    connectionTimeoutMillis: acquireTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    // Timestamps that are selected as text are in UTC, whatever the server's settings. JIT compilation is off,
    // because it takes hundreds of milliseconds whenever a plan's estimated cost is high, and our statements take a
    // few.
    options: `-c TimeZone=UTC -c jit=off${options.settings ?? ''}`,
  }
}

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
