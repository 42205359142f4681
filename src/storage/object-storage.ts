import type { Readable } from 'node:stream'

/** Bytes by key. Keys are `part/part/name.ext` of letters, digits, `.`, `_` and `-`. */
export interface ObjectStorage {
  /** Stores a file's bytes completely or not at all. The same key may be stored again. */
  put(
    key: string,
    source: { readonly file: string } | { readonly bytes: Uint8Array },
  ): Promise<void>
  /** `undefined` if there is no such object. */
  open(key: string): Promise<StoredObject | undefined>
  /** Does nothing if there is none. */
  delete(key: string): Promise<void>
}

export interface StoredObject {
  readonly size: number
  /** Both ends of the range are inclusive, within the size. Fails, at once or on reading, for a deleted object. */
  stream(range: { readonly start: number; readonly end: number }): Promise<Readable>
}

const keyForm = /^[0-9A-Za-z_-][0-9A-Za-z._-]*(?:\/[0-9A-Za-z_-][0-9A-Za-z._-]*)*$/
const maxKeyLength = 512

/** Whether a key stays inside its storage. */
export const isObjectKey = (key: string): boolean => key.length <= maxKeyLength && keyForm.test(key)

/** Throws for a key that could leave its storage. */
export const checkObjectKey = (key: string): string => {
  if (!isObjectKey(key)) throw new Error('This is no object key.')
  return key
}
