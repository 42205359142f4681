import { ApiError } from '../../contract/api-error.ts'
import { hashApiKey, parseApiKey } from '../../runtime/api-key-format.ts'
import type { FindPrincipal, Principal } from '../../contract/principal.ts'
import type { Clock } from '../../runtime/clock.ts'
import { whenKnown } from '../../runtime/when-known.ts'
import { soleHeader, type RequestHead } from '../connections/request-head.ts'

/** The word Bearer, exactly one space, then the key (contract, "Authentication" 1) as RFC 6750 section 2.1 spells one. */
const bearer = /^Bearer ([A-Za-z0-9._~+/-]{1,512}={0,2})$/

export interface AuthenticateOptions {
  readonly findPrincipal: FindPrincipal
  readonly clock: Clock
  /** Whether too many invented keys came from this client. */
  readonly isHeldUp: () => boolean
}

/**
 * Finds out whose key this is. Throws 401: `authentication_required` for a missing, repeated or malformed header,
 * `invalid_api_key` for a key that is unknown or revoked, `api_key_expired` for one past its expiry. Revoked goes
 * before expired. A wrong prefix or checksum costs no look-up (D12). `connection` is what the request came over.
 */
export const authenticate = (
  request: RequestHead,
  connection: object,
  { findPrincipal, clock, isHeldUp }: AuthenticateOptions,
): Principal | Promise<Principal> => {
  const header = soleHeader(request, 'authorization')
  const known = lastKeys.get(connection)
  const hash = known && known.header === header ? known.hash : readKey(header, connection)
  return whenKnown(findPrincipal(hash, isHeldUp), (principal) => {
    if (!principal || principal.revokedAt) throw invalidKey()
    if (principal.expiresAt && principal.expiresAt <= clock.now())
      throw new ApiError('api_key_expired', 'This API key is past its expiry.')
    return principal
  })
}

/**
 * The header each open connection sent last, with its key's hash: callers keep connections and send the same key over
 * them, and hashing it costs more than the rest of this step. The key is forgotten with the connection.
 */
const lastKeys = new WeakMap<object, { readonly header: string; readonly hash: Buffer }>()

const readKey = (header: string | null | undefined, connection: object): Buffer => {
  const key = typeof header === 'string' ? bearer.exec(header)?.[1] : undefined
  if (typeof header !== 'string' || key === undefined)
    throw new ApiError('authentication_required', 'Send one header "Authorization: Bearer <key>".')
  if (parseApiKey(key) === undefined) throw invalidKey()
  const hash = hashApiKey(key)
  lastKeys.set(connection, { header, hash })
  return hash
}

const invalidKey = (): ApiError =>
  new ApiError('invalid_api_key', 'This API key is unknown or revoked.')

/** Throws 403 where the organization's access to the API is off. */
export const requireEnabledOrganization = (principal: Principal): void => {
  if (!principal.publicApiEnabled)
    throw new ApiError(
      'organization_not_enabled',
      'API access is not enabled for this organization. An administrator can enable it.',
    )
}
