import { sql, type Queryable } from '../../database/database.ts'
import { isUuid } from '../../runtime/ids.ts'

/** What an operator may name by its id alone, and where it lies. */
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

// Ids are unique, but keys lead with the organization: one probe for each, which an operator can wait for.
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

/** For commands alone: a client of the API is of one organization. Undefined: there is nothing of this id. */
export const organizationOf = async (
  db: Queryable,
  owned: Owned,
  id: string,
): Promise<string | undefined> =>
  isUuid(id) ? (await db.row<{ id: string }>(statements[owned], [id]))?.id : undefined
