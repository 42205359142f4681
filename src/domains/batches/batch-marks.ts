import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, lookup, type Queryable } from '../../database/database.ts'
import type { Mark } from '../calls/call-marks.ts'

/** What a first page of a list shows. */
const newest = 20

const newestOf = (origin: string): string =>
  `(select id, status || ' ' || updated_at as mark
        from batches
       where organization_id = $1
         and ${origin}
       order by created_at desc, id desc
       limit ${newest})`

const readStatement = list(
  'batch-marks.readBatchMarks',
  `${newestOf("origin = 'api'")}
   union all
   ${newestOf("origin <> 'api'")}`,
)

/** The newest batches. */
export const readBatchMarks = (db: Queryable, organizationId: OrganizationId): Promise<Mark[]> =>
  db.rows<Mark>(readStatement, [organizationId])

const ofIdsStatement = lookup(
  'batch-marks.readMarksOfBatches',
  `select id, status || ' ' || updated_at as mark
     from batches
    where organization_id = $1
      and id = any($2)`,
)

/** Batches of any age. */
export const readMarksOfBatches = (
  db: Queryable,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<Mark[]> => db.rows<Mark>(ofIdsStatement, [organizationId, ids])
