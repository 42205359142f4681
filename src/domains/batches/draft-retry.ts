import { ApiError } from '../../contract/api-error.ts'
import type { RetriedEnd } from '../../contract/console/batches.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Transaction } from '../../database/database.ts'
import type { Clock } from '../../runtime/time.ts'
import type { StorageQuotas } from '../organizations/storage-quotas.ts'
import type { BatchRow } from './batch-resource.ts'
import { draftBatch } from './create-batch.ts'
import { listRecipients, type Recipient } from './list-recipients.ts'

interface RetryRequest {
  readonly batch: BatchRow
  /** Which recipients are called again. */
  readonly ends: readonly RetriedEnd[]
}

/** A new draft of the recipients whose calls ended in one of these ways. Erased contacts are left out. */
export const draftRetry = async (
  tx: Transaction,
  parts: { readonly clock: Clock; readonly quotas: StorageQuotas },
  organizationId: OrganizationId,
  { batch, ends }: RetryRequest,
): Promise<BatchRow> => {
  const recipients = await listRecipients(tx, organizationId, batch.id)
  const again = recipients.filter(
    (each) => each.phone_number !== undefined && ends.some((end) => hasEnded(each, end)),
  )
  if (again.length === 0)
    throw new ApiError('resource_state_conflict', 'No recipient of this batch has ended this way.')
  return draftBatch(
    tx,
    parts.clock,
    organizationId,
    {
      name: `${Array.from(batch.name).slice(0, maxNameLength).join('')}${suffix}`,
      agent_id: batch.agent_id,
      contact_ids: again.map((each) => each.contact_id),
      ...(batch.calling_window && { calling_window: batch.calling_window }),
    },
    'dashboard',
    parts.quotas,
  )
}

const suffix = ' (again)'
/** A batch's name has at most 200 characters. */
const maxNameLength = 200 - suffix.length

const hasEnded = ({ status, answer_status: answer }: Recipient, end: RetriedEnd): boolean =>
  end === 'failed' ? status === 'failed' : status === 'completed' && answer === end
