import type { RateLimits } from './buckets.ts'
import type { Scope } from './scopes.ts'
import type { ServiceVersion } from './versions.ts'

/** Who a bearer key speaks for, as the store of keys tells it to the HTTP kernel. */
export interface Principal {
  readonly organizationId: string
  readonly apiKeyId: string
  readonly scopes: readonly Scope[]
  readonly expiresAt?: Date | undefined
  readonly revokedAt?: Date | undefined
  /** Whether the organization may use the API at all. */
  readonly publicApiEnabled: boolean
  /** The version the organization is pinned to. */
  readonly defaultVersion: ServiceVersion
  /** The organization's allowances. */
  readonly rateLimits: RateLimits
  /** Lower allowances of this key, where it has some. */
  readonly keyRateLimits: Partial<RateLimits>
}

/**
 * Looks a key up by the SHA-256 of its text; unknown keys are `undefined`, revoked ones are not. No promise where the
 * answer is in memory. `isHeldUp` tells, where it is asked, that too many invented keys came from the same client: then a
 * key that is not known costs no look-up of its own.
 */
export type FindPrincipal = (
  keyHash: Buffer,
  isHeldUp?: () => boolean,
) => Principal | undefined | Promise<Principal | undefined>
