import type { RateLimits } from '../../contract/buckets.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { policyOfJson, type CallingPolicy, type CallingPolicyJson } from './calling-policy.ts'

/** An organization as it is stored. */
export interface OrganizationRecord {
  readonly id: string
  readonly name: string
  readonly defaultVersion: string
  readonly publicApiEnabled: boolean
  /** How many of its calls may be live at once. */
  readonly concurrency: number
  /** Allowances that differ from the defaults. */
  readonly rateLimits: Partial<RateLimits>
  readonly policy: CallingPolicy
  readonly isSandbox: boolean
  /** Recordings, transcripts and summaries go so long after their call; null: they are kept. */
  readonly retentionDays: number | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

interface OrganizationRow {
  readonly id: string
  readonly name: string
  readonly default_version: string
  readonly public_api_enabled: boolean
  readonly concurrency: number
  readonly rate_limits: Partial<RateLimits>
  readonly policy: CallingPolicyJson
  readonly is_sandbox: boolean
  readonly retention_days: number | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = `id, name, default_version, public_api_enabled, concurrency, rate_limits, policy, is_sandbox,
       retention_days, created_at, updated_at`

const fromRow = (row: OrganizationRow): OrganizationRecord => ({
  id: row.id,
  name: row.name,
  defaultVersion: row.default_version,
  publicApiEnabled: row.public_api_enabled,
  concurrency: row.concurrency,
  rateLimits: row.rate_limits,
  policy: policyOfJson(row.policy),
  isSandbox: row.is_sandbox,
  retentionDays: row.retention_days,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const insertStatement = sql(
  'organization-store.insertOrganization',
  `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy, is_sandbox)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (is_sandbox) where is_sandbox do nothing
   returning ${columns}`,
)

export interface NewOrganization {
  readonly id: string
  readonly name: string
  readonly defaultVersion: string
  readonly publicApiEnabled: boolean
  readonly concurrency: number
  readonly policy: CallingPolicyJson
  readonly isSandbox: boolean
}

/** Undefined if it was to be a second sandbox organization. */
export const insertOrganization = async (
  db: Queryable,
  organization: NewOrganization,
): Promise<OrganizationRecord | undefined> => {
  const row = await db.row<OrganizationRow>(insertStatement, [
    organization.id,
    organization.name,
    organization.defaultVersion,
    organization.publicApiEnabled,
    organization.concurrency,
    JSON.stringify(organization.policy),
    organization.isSandbox,
  ])
  return row && fromRow(row)
}

const findStatement = sql(
  'organization-store.findOrganization',
  `select ${columns}
     from organizations
    where id = $1`,
)

export const findOrganization = async (
  db: Queryable,
  organizationId: string,
): Promise<OrganizationRecord | undefined> => {
  const row = await db.row<OrganizationRow>(findStatement, [organizationId])
  return row && fromRow(row)
}

const findSandboxStatement = sql(
  'organization-store.findSandboxOrganization',
  `select ${columns}
     from organizations
    where is_sandbox`,
)

export const findSandboxOrganization = async (
  db: Queryable,
): Promise<OrganizationRecord | undefined> => {
  const row = await db.row<OrganizationRow>(findSandboxStatement, [])
  return row && fromRow(row)
}

const listStatement = sql(
  'organization-store.listOrganizations',
  `select ${columns}
     from organizations
    order by created_at, id`,
)

/** All of them, oldest first: for operators, who made each by hand. */
export const listOrganizationRecords = async (db: Queryable): Promise<OrganizationRecord[]> =>
  (await db.rows<OrganizationRow>(listStatement, [])).map(fromRow)

const updateStatement = sql(
  'organization-store.updateOrganization',
  `update organizations
      set public_api_enabled = coalesce($2, public_api_enabled),
          concurrency        = coalesce($3, concurrency),
          policy             = coalesce($4, policy),
          rate_limits        = rate_limits || $5,
          retention_days     = case when $6::integer = 0 then null else coalesce($6, retention_days) end,
          updated_at         = now()
    where id = $1
   returning ${columns}`,
)

export interface OrganizationChanges {
  readonly publicApiEnabled?: boolean
  readonly concurrency?: number
  readonly policy?: CallingPolicyJson
  readonly rateLimits?: Partial<RateLimits>
  /** 0: keep everything. */
  readonly retentionDays?: number
}

/** Only the members given change. Undefined if there is no such organization. */
export const updateOrganization = async (
  db: Queryable,
  organizationId: string,
  changes: OrganizationChanges,
): Promise<OrganizationRecord | undefined> => {
  const row = await db.row<OrganizationRow>(updateStatement, [
    organizationId,
    changes.publicApiEnabled ?? null,
    changes.concurrency ?? null,
    changes.policy === undefined ? null : JSON.stringify(changes.policy),
    JSON.stringify(changes.rateLimits ?? {}),
    changes.retentionDays ?? null,
  ])
  return row && fromRow(row)
}
