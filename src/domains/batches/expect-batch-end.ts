import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import type { BatchRow } from './batch-resource.ts'
import { expectedEndMs } from './expected-end.ts'
import { findLaneZones, findPace } from './pace-store.ts'

/** When a running batch will have ended at its present pace; undefined while that is unknown. */
export const expectBatchEnd = async (
  db: Queryable,
  organizationId: OrganizationId,
  batch: BatchRow,
  now: Date,
): Promise<Date | undefined> => {
  if (batch.status !== 'in_progress' || batch.started_at === null) return undefined
  const [organization, pace, lanes] = await Promise.all([
    findOrganization(db, organizationId),
    findPace(db, organizationId, batch.id, batch.started_at),
    findLaneZones(db, organizationId, batch.id),
  ])
  if (!organization) return undefined
  const remaining =
    batch.pending_recipients + batch.queued_recipients + batch.in_progress_recipients
  const endMs = expectedEndMs(
    {
      pace,
      remaining,
      lanes,
      policy: organization.policy,
      callingWindow: batch.calling_window ?? undefined,
    },
    now.getTime(),
  )
  return endMs === undefined ? undefined : new Date(endMs)
}
