import { sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'

/** The resources that an operator may name by id alone, and their tables. */
const tables = {
  agent: 'agents',
  Automation: 'automations',
  batch: 'batches',
  call: 'calls',
  contact: 'contacts',
  recording: 'recordings',
  run: 'automation_runs',
} as const

export type Owned = keyof typeof tables

// Ids are unique, but keys lead with the organization: one probe for each organization, which is fast enough for an
// operator.
const statementOf = (owned: Owned) =>
  sql(
    `organization-of.${owned}`,
    `select o.id
       from organizations o
      where exists (select from ${tables[owned]} x where x.organization_id = o.id and x.id = $1)`,
  )

const statements = {
  agent: statementOf('agent'),
  Automation: statementOf('Automation'),
  batch: statementOf('batch'),
  call: statementOf('call'),
  contact: statementOf('contact'),
  recording: statementOf('recording'),
  run: statementOf('run'),
} as const satisfies Record<Owned, unknown>

/** Only for commands: a client of the API belongs to one organization. Undefined: nothing has this id. */
export const organizationOf = async (
  db: Queryable,
  owned: Owned,
  id: string,
): Promise<OrganizationId | undefined> =>
  isUuid(id) ? (await db.row<{ id: OrganizationId }>(statements[owned], [id]))?.id : undefined
