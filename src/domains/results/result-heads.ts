import { sql, type Queryable } from '../../database/database.ts'
import type { ResultKind } from './result-states.ts'
import type { CallKey } from './transcript-store.ts'

/** The state of a result, as commands print it. */
export interface ResultHeadRow {
  readonly kind: ResultKind
  readonly status: string
  readonly reason: string | null
  readonly revision: number
  readonly attempts: number
  /** Only for a ready summary. */
  readonly summary: string | null
}

const listStatement = sql(
  'result-heads.listResultHeads',
  `select r.kind, r.status, r.reason, r.revision, r.attempts,
          case when r.kind = 'summary' then v.content ->> 'summary' end as summary
     from results r
     left join result_revisions v
            on v.organization_id = r.organization_id and v.call_id = r.call_id and v.kind = r.kind
           and v.revision = r.revision and r.status = 'ready'
    where r.organization_id = $1
      and r.call_id = $2
    order by r.kind`,
)

/** Both results of a call of any origin; none before it has ended. */
export const listResultHeads = (
  db: Queryable,
  { organizationId, callId }: CallKey,
): Promise<ResultHeadRow[]> => db.rows<ResultHeadRow>(listStatement, [organizationId, callId])
