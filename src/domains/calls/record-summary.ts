import { sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const summaryStatement = sql(
  'record-summary.recordSummary',
  `update calls
      set summary        = coalesce($3, summary),
          outcome        = coalesce(outcome, $4),
          outcome_reason = coalesce(outcome_reason, left($5, 500)),
          updated_at     = now()
    where organization_id = $1
      and id = $2
      and ended_at is not null`,
)

/** What the summary found out after the call. Facts that were certain at its end stay. */
export const recordSummary = async (
  db: Queryable,
  organizationId: OrganizationId,
  callId: string,
  found: { summary?: string; outcome?: string; outcomeReason?: string },
): Promise<boolean> =>
  (await db.run(summaryStatement, [
    organizationId,
    callId,
    found.summary ?? null,
    found.outcome ?? null,
    found.outcomeReason ?? null,
  ])) > 0
