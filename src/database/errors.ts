import pg from 'pg'

/**
 * COMMIT was sent and no response came: the transaction may or may not be committed. Repeat it with its idempotent
 * key.
 */
export class CommitOutcomeUnknownError extends Error {
  override readonly name = 'CommitOutcomeUnknownError'
}

/** More callers wait for a connection than the queue allows. */
export class DatabaseBusyError extends Error {
  override readonly name = 'DatabaseBusyError'
}

/** A list took longer than its limit; the same request would do so again. */
export class ListCutError extends Error {
  override readonly name = 'ListCutError'
}

/**
 * SQLSTATEs after which the same work may succeed on another connection, or a little later: a read-only server (a
 * demoted primary during failover), serialization failure and deadlock, a server that shuts down, crashed or starts
 * up, too many clients, a full disk or memory, a transaction that was idle for too long, and a prepared statement
 * that a pooler or a `discard all` removed.
 */
const retryableStates = new Set([
  '25006',
  '25P03',
  '40001',
  '40P01',
  '53000',
  '53100',
  '53200',
  '53300',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '26000',
])

/** Those that leave the connection usable. */
const harmlessStates = new Set(['40001', '40P01', '53000', '53100', '53200'])

/** `code`s of Node's sockets when a server is gone or not ready yet (ENOENT: its Unix socket). */
const retryableSocketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
])

/** `pg` gives these errors no code, only a message. */
const connectionMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client (has encountered a connection error|was closed) and is not queryable)/

const isRetryableServerError = (error: pg.DatabaseError): boolean =>
  retryableStates.has(error.code ?? '') ||
  (error.code ?? '').startsWith('08') ||
  // A migration changed a table under a prepared statement: a new connection plans it again.
  (error.code === '0A000' && error.routine === 'RevalidateCachedQuery')

const isConnectionLoss = (error: Error): boolean =>
  retryableSocketCodes.has((error as NodeJS.ErrnoException).code ?? '') ||
  connectionMessages.test(error.message)

/**
 * Whether the same work may succeed on a retry: failover, deadlock, lost connection. The first try may or may not
 * have taken effect, so repeat only work that is safe to repeat.
 */
export const isRetryable = (error: unknown): boolean => {
  if (error instanceof pg.DatabaseError) return isRetryableServerError(error)
  if (error instanceof CommitOutcomeUnknownError || error instanceof DatabaseBusyError) return true
  if (error instanceof AggregateError) return error.errors.some(isRetryable)
  return error instanceof Error && (isConnectionLoss(error) || isRetryable(error.cause))
}

/**
 * Whether the connection that gave this error must not be used again. An ordinary ERROR (a violated constraint)
 * leaves it usable. An error without an SQLSTATE is a socket fault, or a value that could not be encoded, after
 * which `pg` has closed a prepared statement that it still believes open.
 */
export const spoilsConnection = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) ||
  error.severity === 'FATAL' ||
  error.severity === 'PANIC' ||
  (isRetryableServerError(error) && !harmlessStates.has(error.code ?? ''))

/** The SQLSTATE of a server error, if it is one: `'23505'` is a violated unique index. */
export const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.code : undefined

/**
 * Where in its work the server met the error, if it reports that: `while inserting index tuple (0,1) in relation
 * "…"`.
 */
export const contextOf = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.where : undefined
