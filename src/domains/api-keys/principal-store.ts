import type { RateLimits } from '../../contract/buckets.ts'
import type { KeyPrincipal } from '../../contract/principal.ts'
import type { Scope } from '../../contract/scopes.ts'
import { isServiceVersion } from '../../contract/versions.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { allowancesOf } from '../organizations/rate-allowances.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

interface PrincipalRow {
  readonly organization_id: OrganizationId
  readonly id: string
  readonly scopes: Scope[]
  readonly key_rate_limits: Partial<RateLimits>
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly public_api_enabled: boolean
  readonly default_version: string
  readonly rate_limits: Partial<RateLimits>
}

const findStatement = sql(
  'principal-store.readPrincipal',
  `select k.organization_id, k.id, k.scopes, k.rate_limits as key_rate_limits, k.expires_at, k.revoked_at,
          o.public_api_enabled, o.default_version, o.rate_limits
     from api_keys k
     join organizations o on o.id = k.organization_id
    where k.hash = $1`,
)

/** The principal of a key, and its expiry. */
export interface FoundKey extends KeyPrincipal {
  readonly expiresAt?: Date | undefined
  readonly revokedAt?: Date | undefined
}

/** The principal of the key with this SHA-256, read from the database. Revoked and expired keys are found too. */
export const readPrincipal = async (
  db: Queryable,
  keyHash: Buffer,
): Promise<FoundKey | undefined> => {
  const row = await db.row<PrincipalRow>(findStatement, [keyHash])
  return row && fromRow(row)
}

const fromRow = (row: PrincipalRow): FoundKey => {
  if (!isServiceVersion(row.default_version)) {
    throw new Error(`Organization ${row.organization_id} is pinned to an unknown version.`)
  }
  return {
    kind: 'key',
    organizationId: row.organization_id,
    apiKeyId: row.id,
    scopes: row.scopes,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    publicApiEnabled: row.public_api_enabled,
    defaultVersion: row.default_version,
    rateLimits: allowancesOf(row.rate_limits),
    keyRateLimits: row.key_rate_limits,
  }
}
