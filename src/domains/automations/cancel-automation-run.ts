import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { Transaction } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'
import type { EndCall } from '../calls/lifecycle/end-call.ts'
import { cancelQueued } from '../calls/lifecycle/cancel-queued-call.ts'
import { runsChannel } from './queue-run.ts'
import { runResource } from './run-resource.ts'
import {
  cancelRunAt,
  findActivePosition,
  findRun,
  requestRunCancel,
  type RunRow,
} from './run-store.ts'

/** How often to check again a run that keeps moving during its cancellation. */
const maxLooks = 20

/**
 * POST /automation-runs/{run_id}/cancel: takes effect between step boundaries (D6). A queued call of the run is
 * cancelled with it, at once; after a live call the run is cancelled when the call ends. A finished run is returned
 * unchanged.
 */
export const cancelAutomationRun: ApiHandler<
  'cancelAutomationRun',
  { readonly endCall: EndCall }
> = async ({ params }, { db, organizationId, parts: { endCall } }) =>
  runResource(await cancelRun(db, endCall, organizationId, params.run_id))

/** Throws `resource_not_found`. */
export const cancelRun = async (
  tx: Transaction,
  endCall: EndCall,
  organizationId: OrganizationId,
  runId: string,
): Promise<RunRow> => {
  if (!isUuid(runId)) throw notFound()
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const change = await cancelOnce(tx, organizationId, runId, endCall)
    if (change === 'moved_on') continue
    const row = change ?? (await findRun(tx, organizationId, runId))
    if (!row) throw notFound()
    if (change) tx.hintAfterCommit(runsChannel)
    return row
  }
  throw new Error('the run moved on too fast to be cancelled')
}

// The call before the run: every transaction locks calls before runs, so that no two can wait for each other.
const cancelOnce = async (
  tx: Transaction,
  organizationId: OrganizationId,
  runId: string,
  endCall: EndCall,
): Promise<RunRow | 'moved_on' | undefined> => {
  const position = await findActivePosition(tx, organizationId, runId)
  if (!position) return undefined
  if (position.call_id !== null && !position.is_call_live) {
    const reason = 'Its Automation run was cancelled.'
    const [ended] = await endCall(tx, cancelQueued(organizationId, position.call_id, reason))
    // No longer queued, and it was not live a moment ago: it may have been dialled since.
    if (!ended && (await isCallLive(tx, organizationId, runId))) return 'moved_on'
  }
  const change = position.is_call_live ? requestRunCancel : cancelRunAt
  return (await change(tx, organizationId, runId, position.sequence)) ?? 'moved_on'
}

const isCallLive = async (
  tx: Transaction,
  organizationId: OrganizationId,
  runId: string,
): Promise<boolean> => (await findActivePosition(tx, organizationId, runId))?.is_call_live ?? false
