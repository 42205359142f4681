import type { Command } from 'commander'
import { explainBatch } from '../../domains/batches/get-batch-explanation.ts'
import { requireBatch } from './batch-actions.ts'
import type { CliContext } from '../cli-context.ts'
import { describeReasons } from '../call/describe-call.ts'
import { show, type OutputOptions } from '../terminal/output.ts'
import { requireOwner, withOrganization, type OrganizationOption } from '../require-organization.ts'

/** `outdial batch explain ID`: the API's explanation, for batches of any origin. */
export const addBatchExplanation = (batch: Command, context: CliContext): void => {
  withOrganization(
    batch.command('explain').description('what a batch waits for').argument('<id>'),
    'batch',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const { status, reasons } = await context.withDatabase(async (db) => {
        const organizationId = await requireOwner(db, options, 'batch', id)
        const row = await requireBatch(db, organizationId, id)
        return { status: row.status, reasons: await explainBatch(db, organizationId, row) }
      })
      show(context, options, { object: 'explanation', status, reasons }, () => [
        // A paused batch says so itself.
        ...(status === 'paused' ? [] : [`The batch is ${status}.`]),
        ...(reasons.length === 0 ? ['It waits for nothing.'] : describeReasons(reasons)),
      ])
    })
}
