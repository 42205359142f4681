import type { Command } from 'commander'
import { endCall } from '../../compose/call-end.ts'
import type { Database } from '../../database/database.ts'
import { batchResource, type BatchRow } from '../../domains/batches/batch-resource.ts'
import { findBatch } from '../../domains/batches/batch-store.ts'
import { cancelBatchById } from '../../domains/batches/cancel-batch.ts'
import { pauseBatchById } from '../../domains/batches/pause-batch.ts'
import { startBatchById } from '../../domains/batches/start-batch.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { batchBar } from './batch-bar.ts'
import type { CliContext } from '../cli-context.ts'
import { show, type OutputOptions } from '../terminal/output.ts'
import { requireOwner, withOrganization, type OrganizationOption } from '../require-organization.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

type Action = (db: Database, organizationId: OrganizationId, batchId: string) => Promise<BatchRow>

/** An operator may act on every batch, from the API or the CLI. */
const actions: readonly (readonly [string, string, Action])[] = [
  [
    'start',
    'start a draft, or go on with a paused batch',
    (db, organizationId, id) =>
      db.transaction((tx) => startBatchById(tx, organizationId, id, undefined)),
  ],
  [
    'resume',
    'go on with a paused batch',
    (db, organizationId, id) =>
      db.transaction((tx) => startBatchById(tx, organizationId, id, undefined)),
  ],
  [
    'pause',
    'dial nobody else; live calls go on',
    (db, organizationId, id) =>
      db.transaction((tx) => pauseBatchById(tx, organizationId, id, undefined)),
  ],
  [
    'cancel',
    'end what waits; live calls finish',
    (db, organizationId, id) =>
      db.transaction((tx) => cancelBatchById(tx, endCall, organizationId, id, undefined)),
  ],
]

export const requireBatch = async (
  db: Database,
  organizationId: OrganizationId,
  batchId: string,
): Promise<BatchRow> => {
  const row = await findBatch(db, organizationId, batchId, undefined)
  if (!row) throw new OperatorError(`The organization has no batch ${batchId}.`)
  return row
}

/** `outdial batch start|resume|pause|cancel ID`. */
export const addActions = (batch: Command, context: CliContext): void => {
  for (const [name, description, action] of actions) {
    withOrganization(batch.command(name).description(description).argument('<id>'), 'batch')
      .option('--json', 'print JSON')
      .action(async (id: string, options: OutputOptions & OrganizationOption) => {
        const row = await context.withDatabase(async (db) => {
          const organizationId = await requireOwner(db, options, 'batch', id)
          await requireBatch(db, organizationId, id)
          return action(db, organizationId, id)
        })
        const shown = batchResource(row)
        show(context, options, shown, (width) => [
          `${shown.id}  ${shown.name}`,
          ...batchBar(shown, width),
        ])
      })
  }
}
