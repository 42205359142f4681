import type { Writable } from 'node:stream'
import type pg from 'pg'
import type { Database, Queryable, Statement, Transaction } from './database.ts'
import { CommitOutcomeUnknownError, spoilsConnection } from './errors.ts'

/** Sends one statement, prepared once per connection under its name. */
export type Query = (
  statement: Statement,
  values: readonly unknown[],
) => Promise<pg.QueryResult<object>>

export const sendStatement = (
  client: pg.PoolClient,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<pg.QueryResult<object>> => client.query({ name, text, values: values as unknown[] })

const gathering = new WeakSet<Writable>()

/**
 * Statements sent without waiting in between leave in one write, because each write is a system call, which
 * dominates.
 */
export const gatherWrites = ({ connection: { stream } }: pg.PoolClient): void => {
  if (gathering.has(stream)) return
  gathering.add(stream)
  stream.cork()
  process.nextTick(() => {
    gathering.delete(stream)
    stream.uncork()
  })
}

/** The three ways to read a result, over any way to send a statement. */
export const queryableOver = (query: Query): Queryable => ({
  async rows<Row extends object>(statement: Statement, values: readonly unknown[]) {
    return (await query(statement, values)).rows as Row[]
  },
  async row<Row extends object>(statement: Statement, values: readonly unknown[]) {
    return (await query(statement, values)).rows[0] as Row | undefined
  },
  async run(statement, values) {
    return (await query(statement, values)).rowCount ?? 0
  },
})

type TransactionOutcome<T> =
  | { readonly kind: 'committed'; readonly result: T; readonly afterCommit: (() => void)[] }
  | { readonly kind: 'failed'; readonly error: unknown; readonly isConnectionSpoilt: boolean }

/**
 * Runs `work` in one transaction. BEGIN leaves together with the first statement, so it costs no separate round
 * trip, and a transaction without statements costs nothing. Invariant: `committed` is returned only when the server
 * confirmed our COMMIT.
 */
export const runTransaction = async <T>(
  client: pg.PoolClient,
  hint: Database['hint'],
  work: (tx: Transaction) => Promise<T>,
): Promise<TransactionOutcome<T>> => {
  const afterCommit: (() => void)[] = []
  let begun: Promise<unknown> | undefined
  let statementError: unknown
  let isOver = false

  const note = (error: unknown): void => {
    statementError ??= error
  }
  /** Records a failure: it fails the transaction, whether or not `work` waits for the result. */
  const noted = <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    answer.catch(note)
    return answer
  }
  const query: Query = (statement, values) => {
    if (isOver) return Promise.reject(new Error(`${statement.name} came after its transaction`))
    gatherWrites(client)
    if (!begun) {
      begun = client.query('begin isolation level read committed')
      begun.catch(note)
    }
    return sendStatement(client, statement, values)
  }
  const fail = async (error: unknown): Promise<TransactionOutcome<T>> => {
    const isRolledBack = await rollBack(client, begun)
    const isConnectionSpoilt =
      !isRolledBack || (statementError !== undefined && spoilsConnection(statementError))
    return { kind: 'failed', error, isConnectionSpoilt }
  }

  const statements = queryableOver(query)
  const tx: Transaction = {
    rows: (statement, values) => noted(statements.rows(statement, values)),
    row: (statement, values) => noted(statements.row(statement, values)),
    run: (statement, values) => noted(statements.run(statement, values)),
    // The statement itself records the failure.
    withCommit: (statement, onFailed = () => {}) => void statement.catch(onFailed),
    afterCommit: (hook) => afterCommit.push(hook),
    hintAfterCommit: (channel, payload) => afterCommit.push(() => hint(channel, payload)),
  }
  try {
    const result = await work(tx)
    isOver = true
    // A swallowed error has aborted the transaction: it must not look like a success.
    if (statementError !== undefined) return await fail(statementError)
    if (begun) await commit(client, begun, () => statementError)
    return { kind: 'committed', result, afterCommit }
  } catch (error) {
    isOver = true
    return fail(error)
  }
}

const commit = async (
  client: pg.PoolClient,
  begun: Promise<unknown>,
  statementError: () => unknown,
): Promise<void> => {
  gatherWrites(client)
  const answer = await client.query('commit').catch((error: unknown) => {
    if (statementError() !== undefined || !spoilsConnection(error)) throw error
    throw new CommitOutcomeUnknownError('The connection was lost during commit.', { cause: error })
  })
  await begun
  // An aborted transaction responds to COMMIT with ROLLBACK, not with an error.
  if (answer.command !== 'COMMIT')
    throw new Error('The transaction was rolled back instead of committed.', {
      cause: statementError(),
    })
}

/** Whether the connection has left its transaction. */
const rollBack = async (
  client: pg.PoolClient,
  begun: Promise<unknown> | undefined,
): Promise<boolean> => {
  if (!begun) return true
  return client.query('rollback').then(
    () => client.getTransactionStatus() === 'I',
    () => false,
  )
}
