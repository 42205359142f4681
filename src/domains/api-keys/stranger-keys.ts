import { lookup, sql, type Queryable } from '../../database/database.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Clock } from '../../runtime/time.ts'

/** Known existing keys; beyond the limit, the newest and the most recently used. */
const maxKnownKeys = 100_000
/** Known non-existing keys, and for how long: a key must exist before a client can send it. */
const maxAbsentKeys = 10_000
const absentMs = 10_000
/**
 * Look-ups of unknown keys are batched: at most this many in one statement, with at least this gap between
 * statements.
 */
const maxBatch = 500
const batchGapMs = 10
/** How often new keys are read while an address is over its limit. */
const refreshGapMs = 1_000
/** A row becomes visible when its transaction commits, later than its own timestamp. */
const commitLagMs = 60_000

const existStatement = lookup(
  'stranger-keys.findExisting',
  `select hash
     from api_keys
    where hash = any($1::bytea[])`,
)

const newestStatement = sql(
  'stranger-keys.listNewest',
  `select hash, created_at
     from api_keys
    where created_at >= $1
    order by created_at desc
    limit $2`,
)

/** Keyed by the hash as Latin-1 text. */
interface StrangerKeys {
  isKnown(key: string): boolean
  /**
   * Whether a previously unknown key with this hash exists. `isHeldUp` reports an address that sent too many
   * invented keys: its keys cost no look-up and are only compared with keys created since the last read.
   */
  exists(key: string, isHeldUp: boolean): Promise<boolean>
  /** Loads the existing keys. */
  load(): Promise<void>
}

/**
 * Keeps invented keys, whose checksum anyone can compute, away from the database. Memory holds which keys exist
 * and, for a while, which do not; the rest are looked up a few hundred in one statement. A genuine key is served
 * whatever else its address sends.
 */
export const createStrangerKeys = (db: Queryable, clock: Clock): StrangerKeys => {
  const known = new BoundedMap<string, true>({ maxSize: maxKnownKeys })
  const absent = new BoundedMap<string, true>({
    maxSize: maxAbsentKeys,
    age: { maxMs: absentMs, clock },
  })
  let newest = new Date(0)

  const learn = (key: string): void => {
    known.set(key, true)
    absent.delete(key)
  }

  const lookUp = createPaced(batchGapMs, async (keys: readonly string[]) => {
    const hashes = keys.map((key) => Buffer.from(key, 'latin1'))
    const rows = await db.rows<{ hash: Buffer }>(existStatement, [hashes])
    for (const { hash } of rows) learn(hash.toString('latin1'))
    for (const key of keys) if (!known.has(key)) absent.set(key, true)
  })
  const load = async (): Promise<void> => {
    const rows = await db.rows<{ hash: Buffer; created_at: Date }>(newestStatement, [
      new Date(newest.getTime() - commitLagMs),
      maxKnownKeys,
    ])
    newest = rows[0]?.created_at ?? newest
    for (const { hash } of rows.toReversed()) learn(hash.toString('latin1'))
  }
  const refresh = createPaced(refreshGapMs, load)

  return {
    isKnown: (key) => known.has(key),
    async exists(key, isHeldUp) {
      if (absent.has(key)) return false
      await (isHeldUp ? refresh(key) : lookUp(key))
      return known.has(key)
    },
    load,
  }
}

/**
 * Does work for many callers at once: never two at a time, and at least `gapMs` after the last one began. Each
 * caller waits for the first one that begins after its call.
 */
const createPaced = (
  gapMs: number,
  work: (keys: readonly string[]) => Promise<void>,
): ((key: string) => Promise<void>) => {
  let waiting: { readonly keys: Set<string>; readonly done: Promise<void> } | undefined
  let last: Promise<unknown> = Promise.resolve()
  let mayBeginAtMs = 0

  const begin = async (keys: Set<string>, before: Promise<unknown>): Promise<void> => {
    await before
    const leftMs = mayBeginAtMs - performance.now()
    if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs))
    if (waiting?.keys === keys) waiting = undefined
    mayBeginAtMs = performance.now() + gapMs
    await work([...keys])
  }
  const open = () => {
    const keys = new Set<string>()
    const done = begin(keys, last)
    last = done.catch(() => undefined)
    return { keys, done }
  }
  return (key) => {
    if (!waiting || waiting.keys.size >= maxBatch) waiting = open()
    waiting.keys.add(key)
    return waiting.done
  }
}
