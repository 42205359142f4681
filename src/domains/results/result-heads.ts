import { sql, type Queryable } from '../../database/database.ts'
import type { ResultKind } from './result-states.ts'
import type { CallKey } from './transcript-store.ts'

/** How a result stands, as commands print it. */
export interface ResultHeadRow {
  readonly kind: ResultKind
  readonly status: string
  readonly reason: string | null
  readonly revision: number
  readonly attempts: number
}

const listStatement = sql(
  'result-heads.listResultHeads',
  `select kind, status, reason, revision, attempts
     from results
    where organization_id = $1
      and call_id = $2
    order by kind`,
)

/** Both results of a call of any origin; none before it has ended. */
export const listResultHeads = (
  db: Queryable,
  { organizationId, callId }: CallKey,
): Promise<ResultHeadRow[]> => db.rows<ResultHeadRow>(listStatement, [organizationId, callId])
