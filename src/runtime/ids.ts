import { randomBytes } from 'node:crypto'
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
    for (const byte of randomBytes(length - text.length + 8)) {
      if (byte < 248 && text.length < length) text += base62[byte % 62]
    }
  }
  return text
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether the text is a UUID as we write it: lower case, with hyphens. */
export const isUuid = (text: string): boolean => uuid.test(text)
