import { ApiError } from '../../contract/api-error.ts'
import type { Authenticator, RequestCredentials } from '../../contract/principal.ts'
import type { Clock } from '../../runtime/time.ts'
import { whenKnown } from '../../runtime/when-known.ts'
import { hashApiKey, parseApiKey } from './api-key-format.ts'
import type { FindPrincipal } from './principals.ts'

/** The word Bearer, exactly one space, then the key (contract, "Authentication" 1) as RFC 6750 section 2.1 spells one. */
const bearer = /^Bearer ([A-Za-z0-9._~+/-]{1,512}={0,2})$/

/**
 * Finds the owner of a request's key. Throws 401: `authentication_required` for a missing, repeated or malformed
 * header, `invalid_api_key` for an unknown or revoked key, `api_key_expired` for an expired one. Revoked takes
 * precedence over expired. A wrong prefix or checksum costs no look-up (D12).
 */
export const authenticateKeys = (findPrincipal: FindPrincipal, clock: Clock): Authenticator => {
  const hashOf = createHashes()
  return (credentials) =>
    whenKnown(findPrincipal(hashOf(credentials), credentials.isHeldUp), (found) => {
      if (!found || found.revokedAt) throw invalidKey()
      if (found.expiresAt && found.expiresAt <= clock.now())
        throw new ApiError('api_key_expired', 'This API key is past its expiry.')
      return found
    })
}

/**
 * Hashes the key of a request, and remembers the last header of each open connection with its key's hash. Clients
 * keep connections and send the same key over them, and hashing costs more than the rest of authentication. The
 * hash is dropped with the connection.
 */
const createHashes = (): ((credentials: RequestCredentials) => Buffer) => {
  const last = new WeakMap<object, { readonly header: string; readonly hash: Buffer }>()
  return (credentials) => {
    const { connection } = credentials
    const header = credentials.header('authorization')
    const known = last.get(connection)
    if (known && known.header === header) return known.hash
    const key = readKey(header)
    const hash = hashApiKey(key)
    if (typeof header === 'string') last.set(connection, { header, hash })
    return hash
  }
}

const readKey = (header: string | null | undefined): string => {
  const key = typeof header === 'string' ? bearer.exec(header)?.[1] : undefined
  if (key === undefined)
    throw new ApiError('authentication_required', 'Send one header "Authorization: Bearer <key>".')
  if (parseApiKey(key) === undefined) throw invalidKey()
  return key
}

const invalidKey = (): ApiError =>
  new ApiError('invalid_api_key', 'This API key is unknown or revoked.')
