import { maxBatchRecipients } from '../../contract/batches.ts'
import type { ContactInput } from '../../contract/contacts.ts'
import type { Database, Transaction } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Clock } from '../../runtime/time.ts'
import { batchResource, type BatchRow } from './batch-resource.ts'
import { draftBatch } from './create-batch.ts'
import { startBatchById } from './start-batch.ts'

interface RunFileRequest {
  readonly organizationId: OrganizationId
  readonly agentId: string
  readonly name: string
  /** Any number; no identity and no phone number twice. */
  readonly recipients: readonly ContactInput[]
}

/**
 * Creates and starts as many batches as the recipients need, 1,000 each, all of them or none. The API does not list
 * them (D14). Throws as creating a batch through the API does.
 */
export const runBatches = (
  db: Database,
  clock: Clock,
  request: RunFileRequest,
): Promise<ReturnType<typeof batchResource>[]> =>
  db.transaction(async (tx) => {
    const parts = partsOf(request.recipients)
    const rows: BatchRow[] = []
    for (const [index, recipients] of parts.entries()) {
      const name = parts.length === 1 ? '' : ` (${index + 1} of ${parts.length})`
      rows.push(await runPart(tx, clock, { ...request, recipients }, name))
    }
    return rows.map(batchResource)
  })

const maxNameLength = 200

const runPart = async (
  tx: Transaction,
  clock: Clock,
  { organizationId, agentId, name, recipients }: RunFileRequest,
  suffix: string,
): Promise<BatchRow> => {
  const input = {
    name:
      Array.from(name)
        .slice(0, maxNameLength - suffix.length)
        .join('') + suffix,
    agent_id: agentId,
    recipients: [...recipients],
  }
  const { id } = await draftBatch(tx, clock, organizationId, input, 'cli')
  return startBatchById(tx, organizationId, id, 'cli')
}

const partsOf = (recipients: readonly ContactInput[]): (readonly ContactInput[])[] =>
  Array.from({ length: Math.ceil(recipients.length / maxBatchRecipients) }, (_, index) =>
    recipients.slice(index * maxBatchRecipients, (index + 1) * maxBatchRecipients),
  )
