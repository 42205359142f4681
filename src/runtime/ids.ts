import { randomFillSync } from 'node:crypto'
import { v5, v7 } from 'uuid'

/** A new UUIDv7: sorts by the time it was made. */
export const newId = (): string => v7()

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

/** Random bytes are drawn in bulk: one call for each id would cost more than all the rest of it. */
const pool = { bytes: new Uint8Array(4096), next: 4096 }

const nextRandomByte = (): number => {
  if (pool.next === pool.bytes.length) {
    randomFillSync(pool.bytes)
    pool.next = 0
  }
  const byte = pool.bytes[pool.next] ?? 0
  // Whoever reads our memory later must not find ids that are secrets.
  pool.bytes[pool.next] = 0
  pool.next += 1
  return byte
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether the text is a UUID as we write it: lower case, with hyphens. */
export const isUuid = (text: string): boolean => uuid.test(text)
