import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../contract/api-error.ts'
import { hashApiKey, parseApiKey } from '../../runtime/api-key-format.ts'
import type { FindPrincipal, Principal } from '../../contract/principal.ts'
import type { Clock } from '../../runtime/clock.ts'

/** The word Bearer, exactly one space, then the key (contract, "Authentication" 1). */
const bearer = /^Bearer ([\x21-\x7e]{1,512})$/

export interface AuthenticateOptions {
  readonly findPrincipal: FindPrincipal
  readonly clock: Clock
}

/**
 * Finds out whose key this is. Throws 401: `authentication_required` for a missing, repeated or malformed header,
 * `invalid_api_key` for a key that is unknown or revoked, `api_key_expired` for one past its expiry. Revoked goes
 * before expired. A wrong prefix or checksum costs no look-up (D12).
 */
export const authenticate = async (
  request: IncomingMessage,
  { findPrincipal, clock }: AuthenticateOptions,
): Promise<Principal> => {
  const key = readBearerKey(request)
  if (parseApiKey(key) === undefined) throw invalidKey()
  const principal = await findPrincipal(hashApiKey(key))
  if (!principal || principal.revokedAt) throw invalidKey()
  if (principal.expiresAt && principal.expiresAt <= clock.now())
    throw new ApiError('api_key_expired', 'This API key is past its expiry.')
  return principal
}

const readBearerKey = (request: IncomingMessage): string => {
  // `headers.authorization` would silently keep the first of two.
  const [header, second] = request.headersDistinct['authorization'] ?? []
  const key = second === undefined ? bearer.exec(header ?? '')?.[1] : undefined
  if (key === undefined)
    throw new ApiError('authentication_required', 'Send one header "Authorization: Bearer <key>".')
  return key
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
