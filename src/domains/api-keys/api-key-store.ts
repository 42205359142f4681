import type { RateLimits } from '../../contract/buckets.ts'
import type { Scope } from '../../contract/scopes.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'

/** A stored key, without its hash. */
export interface ApiKeyRow {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly name: string
  readonly prefix: string
  readonly last_four: string
  readonly scopes: Scope[]
  readonly rate_limits: Partial<RateLimits>
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly last_used_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = `id, organization_id, name, prefix, last_four, scopes, rate_limits, expires_at, revoked_at,
       last_used_at, created_at, updated_at`

interface NewApiKeyRow {
  readonly organizationId: OrganizationId
  readonly id: string
  readonly hash: Buffer
  readonly prefix: string
  readonly lastFour: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly rateLimits: Partial<RateLimits>
  /** UTC text with microseconds. */
  readonly expiresAt: string | undefined
}

const insertStatement = sql(
  'api-key-store.insertApiKey',
  `insert into api_keys (organization_id, id, hash, prefix, last_four, name, scopes, rate_limits, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   returning ${columns}`,
)

export const insertApiKey = async (db: Queryable, key: NewApiKeyRow): Promise<ApiKeyRow> => {
  const row = await db.row<ApiKeyRow>(insertStatement, [
    key.organizationId,
    key.id,
    key.hash,
    key.prefix,
    key.lastFour,
    key.name,
    key.scopes,
    JSON.stringify(key.rateLimits),
    key.expiresAt ?? null,
  ])
  if (!row) throw new Error('The key insert answered no row.')
  return row
}

const listStatement = sql(
  'api-key-store.listApiKeyRows',
  `select ${columns}
     from api_keys
    where organization_id = $1
    order by created_at desc, id desc`,
)

/**
 * All keys of an organization, also revoked ones, newest first: there are few, because administrators create each
 * one by hand.
 */
export const listApiKeyRows = (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<ApiKeyRow[]> => db.rows<ApiKeyRow>(listStatement, [organizationId])

const organizationStatement = sql(
  'api-key-store.findApiKeyOrganization',
  `select organization_id
     from api_keys
    where id = $1`,
)

/** For commands, which name a key by its id alone. */
export const findApiKeyOrganization = async (
  db: Queryable,
  apiKeyId: string,
): Promise<OrganizationId | undefined> => {
  if (!isUuid(apiKeyId)) return undefined
  return (await db.row<{ organization_id: OrganizationId }>(organizationStatement, [apiKeyId]))
    ?.organization_id
}

const renameStatement = sql(
  'api-key-store.renameApiKeyRow',
  `update api_keys
      set name = $3, updated_at = now()
    where organization_id = $1
      and id = $2
   returning ${columns}`,
)

export const renameApiKeyRow = (
  db: Queryable,
  organizationId: OrganizationId,
  apiKeyId: string,
  name: string,
): Promise<ApiKeyRow | undefined> =>
  db.row<ApiKeyRow>(renameStatement, [organizationId, apiKeyId, name])

const revokeStatement = sql(
  'api-key-store.revokeApiKeyRow',
  `update api_keys
      set revoked_at = coalesce(revoked_at, now()),
          updated_at = case when revoked_at is null then now() else updated_at end
    where organization_id = $1
      and id = $2
   returning ${columns}`,
)

/** Revoking twice changes nothing. */
export const revokeApiKeyRow = (
  db: Queryable,
  organizationId: OrganizationId,
  apiKeyId: string,
): Promise<ApiKeyRow | undefined> => db.row<ApiKeyRow>(revokeStatement, [organizationId, apiKeyId])

const touchStatement = sql(
  'api-key-store.touchApiKeys',
  `update api_keys k
      set last_used_at = used.at
     from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as used (organization_id, id, at)
    where k.organization_id = used.organization_id
      and k.id = used.id
      and (k.last_used_at is null or k.last_used_at < used.at)`,
)

export interface KeyUse {
  readonly organizationId: OrganizationId
  readonly apiKeyId: string
  readonly at: Date
}

/** Records when keys were last used, in one statement. */
export const touchApiKeys = async (db: Queryable, uses: readonly KeyUse[]): Promise<void> => {
  await db.run(touchStatement, [
    uses.map((use) => use.organizationId),
    uses.map((use) => use.apiKeyId),
    uses.map((use) => use.at),
  ])
}
