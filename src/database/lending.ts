import type pg from 'pg'
import { DatabaseBusyError } from './errors.ts'

/** Callers that may wait for a connection at one time. */
const maxWaitingCallers = 10_000

/** Connections of a pool, one borrower each. */
export interface Lending {
  acquire(): Promise<pg.PoolClient>
  /** A broken connection is closed. */
  release(client: pg.PoolClient, isSpoilt: boolean): void
  cutAll(): void
}

/** Tracks the lent connections, so that `stop` can end those that do not come back. */
export const createLending = (pool: pg.Pool): Lending => {
  const lent = new Set<pg.PoolClient>()
  // For its whole life: between loan and return nothing else listens, and an unhandled error event ends the
  // process.
  pool.on('connect', (client) => client.on('error', ignore))
  return {
    async acquire() {
      if (pool.waitingCount >= maxWaitingCallers)
        throw new DatabaseBusyError('Too many callers wait for a database connection.')
      const client = await pool.connect()
      lent.add(client)
      return client
    },
    release(client, isSpoilt) {
      lent.delete(client)
      client.release(isSpoilt)
    },
    cutAll() {
      for (const client of lent) client.connection.stream.destroy()
    },
  }
}

/** A socket error of a lent connection reaches every statement on it; as an event it would end the process. */
const ignore = (): void => {}
