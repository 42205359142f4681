import { ApiError } from '../contract/api-error.ts'
import { defaultRateLimits, type RateLimits } from '../contract/buckets.ts'
import {
  noOrganization,
  type Authenticator,
  type RequestCredentials,
  type SessionPrincipal,
  type VisitorPrincipal,
} from '../contract/principal.ts'
import { isServiceVersion, latestVersion } from '../contract/versions.ts'
import type { Database } from '../database/database.ts'
import { allowancesOf } from '../domains/organizations/rate-allowances.ts'
import type { Logger } from '../runtime/logger.ts'
import { readCookie, sessionCookieName, tokenOf } from './session-cookie.ts'
import { findSession, touchSession, type SessionRow } from './session-store.ts'

interface SessionAuthentication {
  readonly database: Database
  /** Where browsers reach the dashboard: what changes something must come from there. */
  readonly origins: () => readonly string[]
  readonly logger: Logger
}

/** What one address may ask for that has not signed in, in a minute. */
const visitorRateLimits: RateLimits = { ...defaultRateLimits, read: 600, write: 120 }

const visitor: VisitorPrincipal = {
  kind: 'visitor',
  organizationId: noOrganization,
  defaultVersion: latestVersion,
  rateLimits: visitorRateLimits,
}

/**
 * Knows the session of a request by its cookie; a request without one is a visitor's. Each request asks the database, so
 * that a session that was ended is of no use from the next request on. Throws 403 for a change from a foreign origin, 409
 * where the asking window shows another organization than the session looks at.
 */
export const authenticateVisits = (options: SessionAuthentication): Authenticator => {
  const find = sessionFinder(options)
  return async (credentials) => {
    requireOrigin(credentials, options.origins())
    const found = await find(credentials)
    if (found) requireShownOrganization(credentials, found)
    return found ?? visitor
  }
}

/** Sessions beside API keys: a request that bears no key may have a session's cookie (D18). */
export const authenticateKeysOrSessions = (
  keys: Authenticator,
  options: SessionAuthentication,
): Authenticator => {
  const find = sessionFinder(options)
  const orSession = async (credentials: RequestCredentials) => {
    const found = await find(credentials)
    if (!found) return keys(credentials)
    requireOrigin(credentials, options.origins())
    return found
  }
  return (credentials) =>
    credentials.header('authorization') === undefined && credentials.header('cookie') !== undefined
      ? orSession(credentials)
      : keys(credentials)
}

const sessionFinder =
  ({ database, logger }: SessionAuthentication) =>
  async ({ header }: RequestCredentials): Promise<SessionPrincipal | undefined> => {
    const cookie = readCookie(header('cookie'), sessionCookieName)
    const token = cookie === undefined ? undefined : tokenOf(cookie)
    const row = token === undefined ? undefined : await findSession(database, token)
    if (row?.is_stale)
      touchSession(database, row.id).catch((error: unknown) =>
        logger.warn({ err: error }, 'last use of a session not written'),
      )
    return row && principalOf(row)
  }

const principalOf = (row: SessionRow): SessionPrincipal => {
  if (!isServiceVersion(row.default_version))
    throw new Error(`Organization ${row.organization_id} is pinned to an unknown version.`)
  return {
    kind: 'session',
    organizationId: row.organization_id,
    defaultVersion: row.default_version,
    rateLimits: allowancesOf(row.rate_limits),
    userId: row.account_id,
    sessionId: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    hasTwoFactor: row.two_factor_enabled,
    administersInstallation: row.administers_installation,
  }
}

/** The organization that the asking window shows. A program that has no window leaves it out. */
const shownOrganizationHeader = 'outdial-organization'

/**
 * A session looks at one organization, and any window of the browser may switch it. What is asked by a window that still
 * shows the one before must not be done in the new one.
 */
const requireShownOrganization = (
  { header }: RequestCredentials,
  { organizationId }: SessionPrincipal,
): void => {
  const shown = header(shownOrganizationHeader)
  if (shown === undefined || shown === organizationId) return
  throw new ApiError(
    'organization_changed',
    'Another window opened another organization. Nothing was done: load the page again.',
  )
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS'])

const requireOrigin = (
  { method, header }: RequestCredentials,
  origins: readonly string[],
): void => {
  if (reading.has(method)) return
  const origin = header('origin')
  if (typeof origin === 'string' && origins.includes(origin)) return
  throw new ApiError(
    'insufficient_scope',
    'A change must come from the dashboard’s own pages: its Origin is another. Behind a proxy set OUTDIAL_PUBLIC_DASHBOARD_URL.',
  )
}
