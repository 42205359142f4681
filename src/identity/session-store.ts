import type { OrganizationId } from '../contract/organization-id.ts'
import type { Role } from '../contract/roles.ts'
import type { RateLimits } from '../contract/buckets.ts'
import { lookup, sql, type Queryable } from '../database/database.ts'
import { authTables, hashToken } from './auth-adapter.ts'
import type { ClientOrigin } from './identity.ts'

/** A session ends when it was not used for so long, and at the latest so long after the sign-in (D18). */
const sessionIdleHours = 12
export const sessionDays = 7

/** How often at most the last use of a session is written. */
const touchSeconds = 60

/** A session with its account, and what the account may do in the organization that it looks at. */
export interface SessionRow {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly email: string
  readonly two_factor_enabled: boolean
  readonly administers_installation: boolean
  readonly organization_id: OrganizationId
  readonly role: Role
  readonly default_version: string
  readonly rate_limits: Partial<RateLimits>
  readonly is_stale: boolean
}

// A session whose organization it may see no longer looks at another one of the account's.
const findStatement = lookup(
  'session-store.findSession',
  `select s.id, s.user_id as account_id, a.name, a.email, a.two_factor_enabled, a.administers_installation,
          m.organization_id, m.role, o.default_version, o.rate_limits,
          s.last_seen_at < now() - interval '${touchSeconds} seconds' as is_stale
     from ${authTables.session} s
     join ${authTables.user} a on a.id = s.user_id
     join members m on m.account_id = s.user_id
     join organizations o on o.id = m.organization_id
    where s.token = $1
      and s.expires_at > now()
      and s.last_seen_at > now() - interval '${sessionIdleHours} hours'
    order by (m.organization_id = s.organization_id) is true desc, m.created_at, m.organization_id
    limit 1`,
)

export const findSession = (db: Queryable, token: string): Promise<SessionRow | undefined> =>
  db.row<SessionRow>(findStatement, [hashToken(token)])

// Only of the organization that the session looks at, where it has chosen one.
const currentStatement = sql(
  'session-store.findCurrentSessions',
  `select s.id, m.organization_id, m.role
     from ${authTables.session} s
     join members m on m.account_id = s.user_id
    where s.id = any($1)
      and s.expires_at > now()
      and s.last_seen_at > now() - interval '${sessionIdleHours} hours'
      and (s.organization_id is null or s.organization_id = m.organization_id)`,
)

interface CurrentSession {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly role: Role
}

/** Those of the sessions that still stand, with what their accounts may do: nothing of it is a use of the session. */
export const findCurrentSessions = (
  db: Queryable,
  ids: readonly string[],
): Promise<CurrentSession[]> => db.rows<CurrentSession>(currentStatement, [ids])

const touchStatement = sql(
  'session-store.touchSession',
  `with seen as (
     update ${authTables.session}
        set last_seen_at = now()
      where id = $1
        and last_seen_at < now() - interval '${touchSeconds} seconds'
     returning user_id
   )
   update ${authTables.user} a
      set last_seen_at = now()
     from seen
    where a.id = seen.user_id`,
)

export const touchSession = async (db: Queryable, sessionId: string): Promise<void> => {
  await db.run(touchStatement, [sessionId])
}

const describeStatement = sql(
  'session-store.describeSession',
  `with described as (
     update ${authTables.session} s
        set organization_id = coalesce($2, s.organization_id),
            ip_address      = $3,
            user_agent      = $4
      where s.token = $1
     returning s.user_id
   )
   update ${authTables.user} a
      set last_seen_at = now()
     from described
    where a.id = described.user_id`,
)

/** Notes where a new session is, and which organization it looks at, where that is known. */
export const describeSession = async (
  db: Queryable,
  token: string,
  organizationId: OrganizationId | undefined,
  { address, userAgent }: ClientOrigin,
): Promise<void> => {
  const values = [hashToken(token), organizationId ?? null, address, userAgent.slice(0, 500)]
  await db.run(describeStatement, values)
}

const endStatement = sql(
  'session-store.endSession',
  `delete from ${authTables.session}
    where user_id = $1
      and id = $2`,
)

/** Ends one session of an account; returns whether there was one. */
export const endSession = async (
  db: Queryable,
  accountId: string,
  sessionId: string,
): Promise<boolean> => (await db.run(endStatement, [accountId, sessionId])) > 0

const endAllStatement = sql(
  'session-store.endSessions',
  `delete from ${authTables.session}
    where user_id = $1
      and id is distinct from $2`,
)

/** Ends every session of an account, except one where it is given; returns how many. */
export const endSessions = (db: Queryable, accountId: string, except?: string): Promise<number> =>
  db.run(endAllStatement, [accountId, except ?? null])

interface ListedSession {
  readonly id: string
  readonly ip_address: string | null
  readonly user_agent: string | null
  readonly created_at: Date
  readonly last_seen_at: Date
  readonly expires_at: Date
}

/** More sessions than these an account hardly has; older ones are not listed. */
const maxListed = 100

const listStatement = sql(
  'session-store.listSessions',
  `select id, ip_address, user_agent, created_at, last_seen_at, expires_at
     from ${authTables.session}
    where user_id = $1
      and expires_at > now()
      and last_seen_at > now() - interval '${sessionIdleHours} hours'
    order by last_seen_at desc, id
    limit ${maxListed}`,
)

export const listSessions = (db: Queryable, accountId: string): Promise<ListedSession[]> =>
  db.rows<ListedSession>(listStatement, [accountId])

const chooseStatement = sql(
  'session-store.chooseOrganization',
  `update ${authTables.session} s
      set organization_id = m.organization_id
     from members m
    where s.user_id = $1
      and s.id = $2
      and m.account_id = s.user_id
      and m.organization_id = $3`,
)

/** Makes the session look at another organization of its account; returns whether the account belongs to it. */
export const chooseOrganization = async (
  db: Queryable,
  accountId: string,
  sessionId: string,
  organizationId: OrganizationId,
): Promise<boolean> => (await db.run(chooseStatement, [accountId, sessionId, organizationId])) > 0
