import type { AutomationStatus } from '../../contract/automations.ts'
import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import { newestFirst } from '../../database/newest-first.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'
import type { AutomationDefinition, AutomationFile } from './definition.ts'

/** A stored Automation, without its definition. */
export interface AutomationRow {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly status: AutomationStatus
  readonly published_version: number
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = 'name, description, status, published_version, created_at, updated_at'

const insertStatement = sql(
  'automation-store.insertAutomation',
  `with automation as (
     insert into automations (organization_id, id, name, description, status, published_version)
     values ($1, $2, $3, $4, $5, 1)
     returning organization_id, id, ${columns}
   ),
   version as (
     insert into automation_versions (organization_id, automation_id, version, definition)
     select organization_id, id, 1, $6
       from automation
   )
   select id, ${columns}
     from automation`,
)

/** A new Automation with its version 1. */
export const insertAutomation = async (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
  status: AutomationStatus,
  file: AutomationFile,
): Promise<AutomationRow> => {
  const row = await db.row<AutomationRow>(insertStatement, [
    organizationId,
    automationId,
    file.name,
    file.description ?? null,
    status,
    JSON.stringify(file.definition),
  ])
  if (!row) throw new Error('The Automation insert answered no row.')
  return row
}

const addVersionStatement = sql(
  'automation-store.addVersion',
  `with automation as (
     update automations
        set name              = $3,
            description       = $4,
            published_version = published_version + 1,
            updated_at        = now()
      where organization_id = $1
        and id = $2
        and status <> 'archived'
        and ($6::integer is null or published_version = $6)
     returning organization_id, id, ${columns}
   ),
   version as (
     insert into automation_versions (organization_id, automation_id, version, definition)
     select organization_id, id, published_version, $5
       from automation
   )
   select id, ${columns}
     from automation`,
)

/**
 * The next version of an Automation; active runs keep theirs. Undefined: unknown, archived, or its version is not
 * `baseVersion`.
 */
export const addVersion = async (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
  file: AutomationFile,
  baseVersion?: number,
): Promise<AutomationRow | undefined> =>
  isUuid(automationId)
    ? db.row<AutomationRow>(addVersionStatement, [
        organizationId,
        automationId,
        file.name,
        file.description ?? null,
        JSON.stringify(file.definition),
        baseVersion ?? null,
      ])
    : undefined

const findStatement = sql(
  'automation-store.findAutomation',
  `select id, ${columns}
     from automations
    where organization_id = $1
      and id = $2`,
)

/** Undefined for an unknown id, one of another organization, and a malformed id. */
export const findAutomation = async (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
): Promise<AutomationRow | undefined> =>
  isUuid(automationId)
    ? db.row<AutomationRow>(findStatement, [organizationId, automationId])
    : undefined

const findVersionStatement = sql(
  'automation-store.findVersion',
  `select definition
     from automation_versions
    where organization_id = $1
      and automation_id = $2
      and version = $3`,
)

/** What that version does, as it was stored. */
export const findVersion = async (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
  version: number,
): Promise<unknown> =>
  (
    await db.row<{ definition: AutomationDefinition }>(findVersionStatement, [
      organizationId,
      automationId,
      version,
    ])
  )?.definition

/** Newest first. */
export const listAutomationRows = newestFirst<AutomationRow, 'status'>({
  name: 'automation-store.listAutomationRows',
  columns,
  table: 'automations',
  sortColumn: 'created_at',
  filters: { status: 'status = ?' },
  ways: [{}],
})

const organizationStatement = sql(
  'automation-store.organizationOfAutomation',
  `select organization_id
     from automations
    where id = $1`,
)

/** For operators, who name an Automation by its id alone. */
export const organizationOfAutomation = async (
  db: Queryable,
  automationId: string,
): Promise<OrganizationId | undefined> =>
  isUuid(automationId)
    ? (await db.row<{ organization_id: OrganizationId }>(organizationStatement, [automationId]))
        ?.organization_id
    : undefined

const listAllStatement = sql(
  'automation-store.listAllAutomations',
  `select id, ${columns}
     from automations
    where $1::uuid is null or organization_id = $1
    order by created_at desc, id desc`,
)

/** For operators: of one organization or of all. */
export const listAllAutomations = (
  db: Queryable,
  organizationId: string | undefined,
): Promise<AutomationRow[]> => db.rows<AutomationRow>(listAllStatement, [organizationId ?? null])

const statusStatement = sql(
  'automation-store.setStatus',
  `update automations
      set status     = $3,
          updated_at = now()
    where organization_id = $1
      and id = $2
      and status = any($4)
   returning id, ${columns}`,
)

/** By compare-and-set. Undefined: unknown, or in none of the statuses `from`. */
export const setStatus = (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
  to: AutomationStatus,
  from: readonly AutomationStatus[],
): Promise<AutomationRow | undefined> =>
  db.row<AutomationRow>(statusStatement, [organizationId, automationId, to, from])

const holdStatement = sql(
  'automation-store.holdStatus',
  `select status
     from automations
    where organization_id = $1
      and id = $2
      for share`,
)

/** The status, which stays so until this transaction ends. */
export const holdStatus = async (
  tx: Transaction,
  organizationId: OrganizationId,
  automationId: string,
): Promise<AutomationStatus | undefined> =>
  (await tx.row<{ status: AutomationStatus }>(holdStatement, [organizationId, automationId]))
    ?.status
