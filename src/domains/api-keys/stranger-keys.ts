import { lookup, sql, type Queryable } from '../../database/database.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Clock } from '../../runtime/time.ts'

/** Keys that are known to exist; of more, the newest and those used last. */
const maxKnownKeys = 100_000
/** Keys that are known not to exist, and for how long: a key is made before anybody can send it. */
const maxAbsentKeys = 10_000
const absentMs = 10_000
/** Look-ups of unknown keys go together, so many in one statement, and no sooner after each other than this. */
const maxBatch = 500
const batchGapMs = 10
/** How often keys made meanwhile are read while an address is held up. */
const refreshGapMs = 1_000
/** A row becomes visible when its transaction commits, after the instant it bears. */
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

/** Keys go by their hash as text of Latin-1. */
export interface StrangerKeys {
  isKnown(key: string): boolean
  /**
   * Whether there is a key of this hash that was not known. `isHeldUp` tells of an address that sent too many invented
   * ones: its keys cost no look-up, and are only held against those made since the last time.
   */
  exists(key: string, isHeldUp: boolean): Promise<boolean>
  /** Learns the keys there are. */
  load(): Promise<void>
}

/**
 * Keeps invented keys, whose checksum anybody can compute, from the database: which keys exist is in memory, which do not is
 * remembered for a while, and the rest are looked up a few hundred in one statement. A genuine key is served whatever
 * comes from its address.
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
 * Does work for many at once: never two at a time, and no sooner than `gapMs` after the last one began. Each caller waits for
 * the first one that begins after its call.
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
