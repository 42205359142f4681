import { automationRunStatuses } from '../../contract/automation-runs.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, lookup, type Queryable } from '../../database/database.ts'
import type { Mark } from '../calls/call-marks.ts'

/** What a first page of a list shows. */
const newest = 20

// Worded as automation_runs_list of migrations/0150-list-indexes.sql.
const newestOf = (status: string): string =>
  `(select id, status || ' ' || updated_at as mark
        from automation_runs
       where organization_id = $1
         and status = '${status}'
         and id <> '00000000-0000-0000-0000-000000000000'
       order by created_at desc, id desc
       limit ${newest})`

const readStatement = list(
  'run-marks.readRunMarks',
  automationRunStatuses.map(newestOf).join('\n   union all\n   '),
)

/** The newest runs of each state. */
export const readRunMarks = (db: Queryable, organizationId: OrganizationId): Promise<Mark[]> =>
  db.rows<Mark>(readStatement, [organizationId])

const ofIdsStatement = lookup(
  'run-marks.readMarksOfRuns',
  `select id, status || ' ' || updated_at as mark
     from automation_runs
    where organization_id = $1
      and id = any($2)`,
)

/** Runs of any age. */
export const readMarksOfRuns = (
  db: Queryable,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<Mark[]> => db.rows<Mark>(ofIdsStatement, [organizationId, ids])
