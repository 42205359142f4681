import { setTimeout as delay } from 'node:timers/promises'
import type { Batch } from '../../contract/batches.ts'
import type { Database } from '../../database/database.ts'
import { batchResource } from '../../domains/batches/batch-resource.ts'
import { isBatchOver } from '../../domains/batches/batch-states.ts'
import { findBatch } from '../../domains/batches/batch-store.ts'
import { hasDispatcher } from '../../domains/calls/dispatchers.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { systemTime } from '../../runtime/time.ts'
import { programPath } from '../../runtime/program-path.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { batchBars } from './batch-bar.ts'
import type { CliContext } from '../cli-context.ts'
import { createPainter, tellJson, type Lines } from '../terminal/output.ts'

const pollEveryMs = 250
/** A restart takes less time; after this the command reports that no service is running. */
const maxIdleMs = 30_000

/** Shows the current state of batches. */
type WatchOutput = (batches: readonly Batch[]) => void

/** Bars that overwrite each other, one JSON line for each change, or nothing. */
export const createWatchOutput = (
  context: CliContext,
  form: 'bars' | 'lines' | 'silent',
): WatchOutput => {
  if (form === 'silent') return () => undefined
  if (form === 'bars') {
    const paint = createPainter(context)
    return (batches) => paint(batchBars(batches, context.terminalWidth))
  }
  const before = new Map<string, string>()
  return (batches) => {
    for (const batch of batches) {
      const line = JSON.stringify(batch)
      if (before.get(batch.id) !== line) tellJson(context, batch)
      before.set(batch.id, line)
    }
  }
}

/** Shows batches until all of them are over, including live calls; returns their final state. */
export const watchBatches = async (
  db: Database,
  organizationId: OrganizationId,
  ids: readonly string[],
  paint: WatchOutput,
): Promise<Batch[]> => {
  let shown = ''
  let lastSeenMs = systemTime.monotonicMs()
  for (;;) {
    const batches = await Promise.all(ids.map((id) => read(db, organizationId, id)))
    const state = JSON.stringify(batches)
    if (state !== shown) paint(batches)
    shown = state
    if (batches.every(isSettled)) return batches
    const nowMs = systemTime.monotonicMs()
    if (await hasDispatcher(db)) lastSeenMs = nowMs
    if (nowMs - lastSeenMs > maxIdleMs) throw nobodyAtWork()
    await delay(pollEveryMs)
  }
}

/** More ids would fill a terminal. */
const maxNamed = 5

/** The commands for batches that go on without this one. */
export const howToGoOn = (organizationId: OrganizationId, ids: readonly string[]): Lines => [
  'It goes on by itself, whatever becomes of this command:',
  ...ids
    .slice(0, maxNamed)
    .flatMap((id) =>
      ['show --watch', 'pause', 'cancel'].map(
        (action) => `  ${programPath()} batch ${action} ${id} --org ${organizationId}`,
      ),
    ),
  ...(ids.length > maxNamed ? [`  and ${ids.length - maxNamed} more batches`] : []),
]

const nobodyAtWork = (): OperatorError =>
  new OperatorError(
    `\`${programPath()} start\` has stopped. Nothing is lost: the batch goes on with it.`,
  )

const read = async (db: Database, organizationId: OrganizationId, id: string): Promise<Batch> => {
  const row = await findBatch(db, organizationId, id, undefined)
  if (!row) throw new Error(`There is no batch ${id}.`)
  return batchResource(row)
}

/** A cancelled batch may still have live calls. */
const isSettled = (batch: Batch): boolean =>
  isBatchOver(batch.status) && batch.in_progress_recipients + batch.queued_recipients === 0
