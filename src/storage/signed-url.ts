import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomBase62 } from '../runtime/ids.ts'

/** A secret and the name by which URLs refer to it. */
export interface SigningKey {
  readonly keyId: string
  readonly secret: Buffer
}

interface DownloadGrant {
  /** Scheme, host and port that serve downloads. */
  readonly origin: string
  readonly recordingId: string
  /** Enforced to the millisecond, so that a URL lives exactly as long as requested. */
  readonly expiresAt: Date
  readonly key: SigningKey
}

const nonceLength = 11

/**
 * `<origin>/recordings/<id>?e=<unix milliseconds>&k=<key id>&n=<nonce>&s=<signature>`, about 170 characters. The
 * signature is an HMAC-SHA256 over everything except the origin (D12). The nonce makes each URL unique, also within
 * one millisecond.
 */
export const signUrl = ({ origin, recordingId, expiresAt, key }: DownloadGrant): string => {
  const expires = String(expiresAt.getTime())
  const url = new URL(`${origin.replace(/\/$/, '')}/recordings/${recordingId}`)
  url.searchParams.set('e', expires)
  url.searchParams.set('k', key.keyId)
  const nonce = randomBase62(nonceLength)
  url.searchParams.set('n', nonce)
  url.searchParams.set('s', signatureOf([recordingId, expires, nonce], key).toString('base64url'))
  return url.href
}

/**
 * The recording that a URL gives access to at `now`; `undefined` for a URL that was altered, signed with an unknown
 * secret, or has expired.
 */
export const verifySignedUrl = (
  url: URL,
  keys: readonly SigningKey[],
  now: Date,
): { readonly recordingId: string } | undefined => {
  const recordingId = /\/recordings\/([0-9a-f-]{36})$/.exec(url.pathname)?.[1]
  const expires = only(url, 'e')
  const key = keys.find(({ keyId }) => keyId === only(url, 'k'))
  const signature = Buffer.from(only(url, 's') ?? '', 'base64url')
  const nonce = only(url, 'n')
  if (recordingId === undefined || expires === undefined || key === undefined) return undefined
  if (!/^\d{1,15}$/.test(expires) || nonce === undefined || url.searchParams.size !== 4)
    return undefined
  const expected = signatureOf([recordingId, expires, nonce], key)
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
    return undefined
  // base64url has spare bits at its end, so only one spelling of a signature is valid.
  if (only(url, 's') !== expected.toString('base64url')) return undefined
  return Number(expires) > now.getTime() ? { recordingId } : undefined
}

const only = (url: URL, name: string): string | undefined => {
  const values = url.searchParams.getAll(name)
  return values.length === 1 ? values[0] : undefined
}

// The first two contain no line break, so no other split of the same text is possible.
const signatureOf = (
  [recordingId, expires, nonce]: readonly [string, string, string],
  { keyId, secret }: SigningKey,
): Buffer =>
  createHmac('sha256', secret).update(`v3\n${recordingId}\n${expires}\n${keyId}\n${nonce}`).digest()
