import { randomFillSync } from 'node:crypto'
import { v5, v7 } from 'uuid'

/**
 * A new UUIDv7: sorts by its creation time, within a millisecond of this process too. Draws from our pool, because
 * the package would ask the system for each.
 */
export const newId = (): string => {
  for (let at = 0; at < drawn.length; at += 1) drawn[at] = nextRandomByte()
  const nowMs = Date.now()
  // RFC 9562 section 6.2, method 1: a counter that starts anew at a random place in its lower half.
  if (nowMs > latest.msecs) {
    latest.msecs = nowMs
    latest.seq = new DataView(drawn.buffer).getUint32(6) >>> 1
  } else latest.seq += 1
  return v7({ random: drawn, ...latest })
}

const drawn = new Uint8Array(16)
const latest = { msecs: 0, seq: 0 }

/** The same UUIDv5 for the same name in the same namespace (a UUID). */
export const derivedId = (namespace: string, name: string): string => v5(name, namespace)

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` characters of 0-9A-Za-z from the system's random source, without modulo bias. */
export const randomBase62 = (length: number): string => {
  let text = ''
  while (text.length < length) {
    const byte = nextRandomByte()
    if (byte < 248) text += base62[byte % 62]
  }
  return text
}

/** Random bytes are drawn in bulk, because one call for each id would cost more than the rest of it. */
const pool = { bytes: new Uint8Array(4096), next: 4096 }

const nextRandomByte = (): number => {
  if (pool.next === pool.bytes.length) {
    randomFillSync(pool.bytes)
    pool.next = 0
  }
  const byte = pool.bytes[pool.next] ?? 0
  // A later reader of our memory must not find ids that are secrets.
  pool.bytes[pool.next] = 0
  pool.next += 1
  return byte
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether the text is a UUID as we write it: lower case, with hyphens. */
export const isUuid = (text: string): boolean => uuid.test(text)
