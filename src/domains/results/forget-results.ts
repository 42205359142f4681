import { sql, type Transaction } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const closeStatement = sql(
  'forget-results.closeResults',
  `update results
      set status = 'unavailable',
          reason = 'retention_expired',
          content_hash = null,
          generated_at = null,
          updated_at = now()
    where organization_id = $1
      and call_id = any ($2::uuid[])
      and status <> 'unavailable'`,
)

const revisionsStatement = sql(
  'forget-results.deleteRevisions',
  `delete from result_revisions
    where organization_id = $1
      and call_id = any ($2::uuid[])`,
)

const turnsStatement = sql(
  'forget-results.deleteTurns',
  `delete from transcript_turns
    where organization_id = $1
      and call_id = any ($2::uuid[])`,
)

/**
 * Deletes all words of these ended calls: turns, every revision of transcript and summary, and with them pinned
 * cursors. Results with content, or with pending content, become `unavailable` because of `retention_expired` (D7).
 * Returns how many results were closed. Closes them first, so that a job that is writing one finds it closed.
 */
export const forgetResults = async (
  tx: Transaction,
  organizationId: OrganizationId,
  callIds: readonly string[],
): Promise<number> => {
  const values = [organizationId, callIds]
  const [closed] = await Promise.all([
    tx.run(closeStatement, values),
    tx.run(revisionsStatement, values),
    tx.run(turnsStatement, values),
  ])
  return closed
}
