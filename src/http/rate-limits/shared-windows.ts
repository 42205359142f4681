import { sql, type Database } from '../../database/database.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Clock } from '../../runtime/time.ts'
import { wholeSecondsLeft, type WindowCount } from './fixed-windows.ts'

/** The `RateWindows` of several nodes. */
interface SharedWindows {
  hit(key: string, limit: number): Promise<WindowCount>
}

interface SharedWindowsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly windowSeconds: number
}

/** A node reserves this part of an allowance at one time. */
const chunksPerWindow = 20
/** Keys a node remembers; beyond, the one that was reserved first is forgotten. */
const maxKeys = 100_000

/** Tickets of one window that this node may hand out: `next` up to `last`. */
interface Reservation {
  next: number
  readonly last: number
  readonly endsMs: number
}

/**
 * Counts hits for several nodes over one database. Every hit gets a ticket number that no other node hands out in the
 * same window, so a limit is never exceeded; each node may leave at most one chunk (a twentieth of the limit) unused.
 * Costs one statement per chunk, and none once the allowance is used up.
 */
export const createSharedWindows = ({
  database,
  clock,
  windowSeconds,
}: SharedWindowsOptions): SharedWindows => {
  const reservations = new BoundedMap<string, Reservation>({ maxSize: maxKeys })
  const reserving = new Map<string, Promise<void>>()

  const reserve = async (key: string, limit: number): Promise<void> => {
    const chunk = Math.max(1, Math.floor(limit / chunksPerWindow))
    const { taken, left_ms: leftMs } = await reserveChunk(database, key, chunk, windowSeconds)
    const endsMs = clock.monotonicMs() + leftMs
    reservations.set(key, { next: taken - chunk + 1, last: taken, endsMs })
  }
  const reserveOnce = (key: string, limit: number): Promise<void> => {
    const current = reserving.get(key)
    if (current) return current
    const started = reserve(key, limit).finally(() => reserving.delete(key))
    reserving.set(key, started)
    return started
  }
  return {
    async hit(key, limit) {
      for (;;) {
        const reservation = reservations.get(key)
        const nowMs = clock.monotonicMs()
        if (reservation && reservation.endsMs > nowMs) {
          const ticket = takeTicket(reservation, limit)
          if (ticket !== undefined) {
            const resetSeconds = wholeSecondsLeft(reservation.endsMs - nowMs, windowSeconds)
            return { count: ticket, resetSeconds }
          }
        }
        await reserveOnce(key, limit)
      }
    },
  }
}

/** The next ticket; `undefined` when a new chunk is needed. Tickets above the limit are all alike and never run out. */
const takeTicket = (reservation: Reservation, limit: number): number | undefined => {
  if (reservation.next > limit) return limit + 1
  if (reservation.next > reservation.last) return undefined
  reservation.next += 1
  return reservation.next - 1
}

interface ReservedRow {
  /** The last ticket of the chunk. */
  readonly taken: number
  readonly left_ms: number
}

const reserveChunk = async (
  database: Database,
  key: string,
  chunk: number,
  windowSeconds: number,
): Promise<ReservedRow> => {
  const row = await database.row<ReservedRow>(reserveChunkSql, [key, chunk, windowSeconds])
  if (!row) throw new Error('A rate-limit window returned no row.')
  return row
}

const reserveChunkSql = sql(
  'shared-windows.reserve-chunk',
  `insert into rate_windows as existing (key, ends_at, taken)
   values ($1, now() + make_interval(secs => $3), $2)
   on conflict (key) do update
      set ends_at = case when existing.ends_at <= now() then excluded.ends_at else existing.ends_at end,
          taken   = case when existing.ends_at <= now() then 0 else existing.taken end + excluded.taken
   returning taken, (extract(epoch from ends_at - now()) * 1000)::float8 as left_ms`,
)
