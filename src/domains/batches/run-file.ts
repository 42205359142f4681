import { maxBatchRecipients, type BatchInput } from '../../contract/batches.ts'
import type { PersonInput } from '../contacts/person-input.ts'
import type { Database, Transaction } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Clock } from '../../runtime/time.ts'
import type { StorageQuotas } from '../organizations/storage-quotas.ts'
import { batchResource, type BatchRow } from './batch-resource.ts'
import type { BatchOrigin } from './batch-store.ts'
import { draftBatch } from './create-batch.ts'
import { startBatchById } from './start-batch.ts'

interface FileRequest {
  readonly organizationId: OrganizationId
  readonly agentId: string
  readonly name: string
  /** Any number; no identity and no phone number twice. */
  readonly recipients: readonly PersonInput[]
  readonly times?: Pick<BatchInput, 'scheduled_start_at' | 'calling_window'>
}

/**
 * Creates and starts as many batches as the recipients need, 1,000 each, all of them or none. The API does not list
 * them (D14). Throws as creating a batch through the API does.
 */
export const runBatches = (
  db: Database,
  clock: Clock,
  request: FileRequest,
): Promise<ReturnType<typeof batchResource>[]> =>
  db.transaction(async (tx) => {
    const rows: BatchRow[] = []
    for (const { id } of await draftBatches(tx, clock, request, 'cli'))
      rows.push(await startBatchById(tx, request.organizationId, id, 'cli'))
    return rows.map(batchResource)
  })

/** As many drafts as the recipients need, 1,000 each. */
export const draftBatches = async (
  tx: Transaction,
  clock: Clock,
  { organizationId, agentId, name, recipients, times = {} }: FileRequest,
  origin: BatchOrigin,
  quotas?: StorageQuotas,
  tell: (recipients: number) => void = () => {},
): Promise<BatchRow[]> => {
  const parts = partsOf(recipients)
  const rows: BatchRow[] = []
  for (const [index, part] of parts.entries()) {
    const suffix = parts.length === 1 ? '' : ` (${index + 1} of ${parts.length})`
    const input = {
      name: shortened(name, maxNameLength - suffix.length) + suffix,
      agent_id: agentId,
      recipients: [...part],
      ...times,
    }
    rows.push(await draftBatch(tx, clock, organizationId, input, origin, quotas))
    tell(rows.length * maxBatchRecipients)
  }
  return rows
}

const maxNameLength = 200

const shortened = (name: string, length: number): string =>
  Array.from(name).slice(0, length).join('')

const partsOf = (recipients: readonly PersonInput[]): (readonly PersonInput[])[] =>
  Array.from({ length: Math.ceil(recipients.length / maxBatchRecipients) }, (_, index) =>
    recipients.slice(index * maxBatchRecipients, (index + 1) * maxBatchRecipients),
  )
