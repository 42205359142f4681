import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** Fixed prefix of every live key, which people and secret scanners recognize (D12). */
const apiKeyPrefix = 'od_live_'

const keyIdLength = 11 // 64 bits
const secretLength = 43 // 256 bits
const checksumLength = 6 // 32 bits

/**
 * For secret scanners: prefix, key id, `_`, secret with its checksum. 69 characters in all; a match with a wrong
 * checksum is not our key (`parseApiKey`).
 */
export const apiKeyPattern = 'od_live_[0-9A-Za-z]{11}_[0-9A-Za-z]{49}'

const wholeKey = new RegExp(`^${apiKeyPattern}$`)

/** A key in the clear, to be shown once, and the parts that may be stored. */
interface NewApiKey {
  readonly secret: string
  /** `od_live_` and the key id: shown in lists, and enough to recognise a key. */
  readonly prefix: string
  readonly lastFour: string
  readonly hash: Buffer
}

/** Makes a key with 256 bits of secret. */
export const makeApiKey = (): NewApiKey => {
  const prefix = `${apiKeyPrefix}${base62(randomBytes(8), keyIdLength)}`
  const unsigned = `${prefix}_${base62(randomBytes(32), secretLength)}`
  const secret = unsigned + checksum(unsigned)
  return { secret, prefix, lastFour: secret.slice(-4), hash: hashApiKey(secret) }
}

/**
 * The key's public part, or `undefined` if prefix, format or checksum are wrong: then no look-up is needed (D12).
 */
export const parseApiKey = (text: string): { readonly prefix: string } | undefined => {
  if (!wholeKey.test(text)) return undefined
  const unsigned = text.slice(0, -checksumLength)
  if (checksum(unsigned) !== text.slice(-checksumLength)) return undefined
  return { prefix: text.slice(0, apiKeyPrefix.length + keyIdLength) }
}

/**
 * SHA-256 of the whole key, which is stored and looked up. With 256 bits of secret a slow hash adds nothing, and a
 * look-up by hash compares no secret in variable time.
 */
export const hashApiKey = (text: string): Buffer => hash('sha256', text, 'buffer')

/** With plain numbers, because every request checks its key. */
const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < checksumLength) {
    digits = alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const base62 = (bytes: Buffer, length: number): string => {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  while (text.length < length) {
    text = alphabet.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text
}
