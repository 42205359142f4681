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

/** An administrator of an organization, by a login. */
export interface SessionPrincipal extends Member {
  readonly kind: 'session'
  readonly userId: string
  readonly sessionId: string
  readonly name: string
  readonly email: string
  readonly role: Role
  readonly hasTwoFactor: boolean
  /** The installation's first owner: trunks, providers, health. */
  readonly administersInstallation: boolean
}

/** A browser that nobody has signed in with yet: only open operations are for it, and no organization is its own. */
export interface VisitorPrincipal extends Member {
  readonly kind: 'visitor'
}

/** The organization of a visitor: there is no row of this id. */
export const noOrganization = '00000000-0000-0000-0000-000000000000' as OrganizationId

/** Who sent a request. */
export type Principal = KeyPrincipal | SessionPrincipal | VisitorPrincipal

/** The key that asks; undefined where a person does. */
export const keyOf = (principal: Principal): string | undefined =>
  principal.kind === 'key' ? principal.apiKeyId : undefined

/** What a handler may know and say beyond its input: where the request came from, and what the browser is to keep. */
export interface Visit {
  /** The client's address; behind a trusted proxy what that says. */
  readonly address: () => string
  /** The value of a header by its lower-case name; `undefined` where it is absent, `null` where it came more than once. */
  readonly header: (name: string) => string | null | undefined
  /** Sent as `Set-Cookie` with a success. */
  cookie?: string
}

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
