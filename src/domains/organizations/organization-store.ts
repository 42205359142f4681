import type { RateLimits } from '../../contract/buckets.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { policyOfJson, type CallingPolicy, type CallingPolicyJson } from './calling-policy.ts'
import type { Quotas } from './quotas.ts'
import type { RecordingChoice } from './recording-choice.ts'
import { routeOf, type OrganizationMode } from './organization-mode.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** A stored organization. */
export interface OrganizationRecord {
  readonly id: OrganizationId
  readonly name: string
  readonly defaultVersion: string
  readonly publicApiEnabled: boolean
  /** How many of its calls may be live at once. */
  readonly concurrency: number
  /** Allowances that differ from the defaults. */
  readonly rateLimits: Partial<RateLimits>
  /** Storage quotas that differ from the defaults. */
  readonly quotas: Partial<Quotas>
  readonly policy: CallingPolicy
  /** Null: created before organizations had a mode, and decided by the next start. */
  readonly mode: OrganizationMode | null
  /** How long after their call recordings, transcripts and summaries are deleted; null: they are kept. */
  readonly retentionDays: number | null
  readonly recording: RecordingChoice
  /** What callers of its numbers get, as `OUTDIAL_CALLS_BACK` is written; null: what that says. */
  readonly callsBack: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

interface OrganizationRow {
  readonly id: OrganizationId
  readonly name: string
  readonly default_version: string
  readonly public_api_enabled: boolean
  readonly concurrency: number
  readonly rate_limits: Partial<RateLimits>
  readonly quotas: Partial<Quotas>
  readonly policy: CallingPolicyJson
  readonly mode: OrganizationMode | null
  readonly retention_days: number | null
  readonly recording: RecordingChoice
  readonly calls_back: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = `id, name, default_version, public_api_enabled, concurrency, rate_limits, quotas, policy, mode,
       retention_days, recording, calls_back, created_at, updated_at`

const fromRow = (row: OrganizationRow): OrganizationRecord => ({
  id: row.id,
  name: row.name,
  defaultVersion: row.default_version,
  publicApiEnabled: row.public_api_enabled,
  concurrency: row.concurrency,
  rateLimits: row.rate_limits,
  quotas: row.quotas,
  policy: policyOfJson(row.policy),
  mode: row.mode,
  retentionDays: row.retention_days,
  recording: row.recording,
  callsBack: row.calls_back,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const insertStatement = sql(
  'organization-store.insertOrganization',
  `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy, mode)
   values ($1, $2, $3, $4, $5, $6, $7)
   returning ${columns}`,
)

// Two nodes that start at once both find no organization: the index on is_first lets one of them create it.
const insertFirstStatement = sql(
  'organization-store.insertFirstOrganization',
  `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy, mode, is_first)
   select $1, $2, $3, $4, $5, $6, $7, true
    where not exists (select from organizations)
   on conflict (is_first) where is_first do nothing
   returning ${columns}`,
)

interface NewOrganization {
  readonly id: OrganizationId
  readonly name: string
  readonly defaultVersion: string
  readonly publicApiEnabled: boolean
  readonly concurrency: number
  readonly policy: CallingPolicyJson
  readonly mode: OrganizationMode
}

export const insertOrganization = async (
  db: Queryable,
  organization: NewOrganization,
): Promise<OrganizationRecord> => {
  const row = await db.row<OrganizationRow>(insertStatement, valuesOf(organization))
  if (!row) throw new Error('An organization was not inserted.')
  return fromRow(row)
}

/** Undefined if an organization exists already. */
export const insertFirstOrganization = async (
  db: Queryable,
  organization: NewOrganization,
): Promise<OrganizationRecord | undefined> => {
  const row = await db.row<OrganizationRow>(insertFirstStatement, valuesOf(organization))
  return row && fromRow(row)
}

const valuesOf = (organization: NewOrganization): readonly unknown[] => [
  organization.id,
  organization.name,
  organization.defaultVersion,
  organization.publicApiEnabled,
  organization.concurrency,
  JSON.stringify(organization.policy),
  organization.mode,
]

const decideStatement = sql(
  'organization-store.decideModes',
  `with decided as (
     update organizations
        set mode = $1
      where mode is null
     returning id
   )
   update dispatch_organizations d
      set route = $2,
          ready = true
     from decided o
    where d.organization_id = o.id`,
)

/**
 * Decides the mode of organizations from before there were modes: their calls keep their route. Returns how many
 * there were.
 */
export const decideModes = (db: Queryable, mode: OrganizationMode): Promise<number> =>
  db.run(decideStatement, [mode, routeOf(mode)])

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

const countStatement = sql(
  'organization-store.countOrganizations',
  `select count(*) as count
     from organizations
    where mode = $1`,
)

export const countOrganizations = async (db: Queryable, mode: OrganizationMode): Promise<number> =>
  (await db.row<{ count: number }>(countStatement, [mode]))?.count ?? 0

const listStatement = sql(
  'organization-store.listOrganizations',
  `select ${columns}
     from organizations
    order by created_at, id`,
)

/** All of them, oldest first: for operators, who created each by hand. */
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
          quotas             = quotas || $7,
          recording          = coalesce($8, recording),
          calls_back         = case when $9 = '' then null else coalesce($9, calls_back) end,
          updated_at         = now()
    where id = $1
   returning ${columns}`,
)

interface OrganizationChanges {
  readonly publicApiEnabled?: boolean
  readonly concurrency?: number
  readonly policy?: CallingPolicyJson
  readonly rateLimits?: Partial<RateLimits>
  readonly quotas?: Partial<Quotas>
  /** 0: keep everything. */
  readonly retentionDays?: number
  readonly recording?: RecordingChoice
  /** Empty: what the installation says. */
  readonly callsBack?: string
}

/** Changes only the given members. Undefined if there is no such organization. */
export const updateOrganization = async (
  db: Queryable,
  organizationId: OrganizationId,
  changes: OrganizationChanges,
): Promise<OrganizationRecord | undefined> => {
  const row = await db.row<OrganizationRow>(updateStatement, [
    organizationId,
    changes.publicApiEnabled ?? null,
    changes.concurrency ?? null,
    changes.policy === undefined ? null : JSON.stringify(changes.policy),
    JSON.stringify(changes.rateLimits ?? {}),
    changes.retentionDays ?? null,
    JSON.stringify(changes.quotas ?? {}),
    changes.recording ?? null,
    changes.callsBack ?? null,
  ])
  return row && fromRow(row)
}
