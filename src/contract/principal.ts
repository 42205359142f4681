import type { RateLimits } from './buckets.ts'
import type { Role } from './roles.ts'
import type { Scope } from './scopes.ts'
import type { ServiceVersion } from './versions.ts'
import type { OrganizationId } from './organization-id.ts'

interface Member {
  readonly organizationId: OrganizationId
  /** The version the organization is pinned to. */
  readonly defaultVersion: ServiceVersion
  /** The organization's allowances. */
  readonly rateLimits: RateLimits
}

/** A program of an organization, by its API key. */
export interface KeyPrincipal extends Member {
  readonly kind: 'key'
  readonly apiKeyId: string
  readonly scopes: readonly Scope[]
  /** Whether the organization may use the API at all. */
  readonly publicApiEnabled: boolean
  /** Lower allowances of this key, where it has some. */
  readonly keyRateLimits: Partial<RateLimits>
}

/** An administrator of an organization, by a login. An authenticator makes it; the API's knows keys only. */
interface SessionPrincipal extends Member {
  readonly kind: 'session'
  readonly userId: string
  readonly role: Role
}

/** Who sent a request. */
export type Principal = KeyPrincipal | SessionPrincipal

/** What an authenticator can learn about a request. */
export interface RequestCredentials {
  readonly method: string
  /** What the request came over: the same object as long as the connection is open. */
  readonly connection: object
  /** The value of a header by its lower-case name; `undefined` where it is absent, `null` where it came more than once. */
  readonly header: (name: string) => string | null | undefined
  /** Whether too many requests without valid credentials came from this address: unknown ones deserve no look-up. */
  readonly isHeldUp: () => boolean
}

/** Finds out who sent a request, or throws the `ApiError` that the caller gets. No promise where the answer is in memory. */
export type Authenticator = (credentials: RequestCredentials) => Principal | Promise<Principal>
