import { setTimeout as delay } from 'node:timers/promises'
import type { Batch } from '../contract/batches.ts'
import type { Database } from '../database/database.ts'
import { batchResource } from '../domains/batches/batch-resource.ts'
import { isBatchOver } from '../domains/batches/batch-states.ts'
import { findBatch } from '../domains/batches/batch-store.ts'
import { hasDispatcher } from '../domains/calls/dispatchers.ts'
import { systemClock } from '../runtime/clock.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import { batchBars } from './batch-commands-bar.ts'

const pollEveryMs = 250
/** A restart takes less; whoever waits longer is told that nobody is at work. */
const maxIdleMs = 30_000

export interface WatchOutput {
  readonly print: (text: string) => void
  /** Bars that are drawn over each other, one JSON line for each change, or nothing. */
  readonly form: 'bars' | 'lines' | 'silent'
}

/** Shows batches until all of them are over, live calls included; answers them as they ended. */
export const watchBatches = async (
  db: Database,
  organizationId: string,
  started: readonly Batch[],
  output: WatchOutput,
): Promise<Batch[]> => {
  let shown = ''
  let lastSeenMs = systemClock.monotonicMs()
  const paint = createPainter(output)
  for (;;) {
    const batches = await Promise.all(started.map(({ id }) => read(db, organizationId, id)))
    const state = JSON.stringify(batches)
    if (state !== shown) paint(batches)
    shown = state
    if (batches.every(isSettled)) return batches
    const nowMs = systemClock.monotonicMs()
    if (await hasDispatcher(db)) lastSeenMs = nowMs
    if (nowMs - lastSeenMs > maxIdleMs) throw nobodyAtWork()
    await delay(pollEveryMs)
  }
}

const nobodyAtWork = (): OperatorError =>
  new OperatorError('`outdial start` has stopped. Nothing is lost: the batch goes on with it.')

const read = async (db: Database, organizationId: string, id: string): Promise<Batch> => {
  const row = await findBatch(db, organizationId, id, 'cli')
  if (!row) throw new Error(`There is no batch ${id}.`)
  return batchResource(row)
}

/** A cancelled batch may still have live calls. */
const isSettled = (batch: Batch): boolean =>
  isBatchOver(batch.status) && batch.in_progress_recipients + batch.queued_recipients === 0

/** ESC [ n A: up n lines; ESC [ J: clear from here (ECMA-48). */
const overLast = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\u001b[J`)

const createPainter = ({ print, form }: WatchOutput): ((batches: readonly Batch[]) => void) => {
  const before = new Map<string, string>()
  let lines = 0
  return (batches) => {
    if (form === 'bars') {
      const bars = batchBars(batches)
      print(overLast(lines) + bars.join('\n'))
      lines = bars.length
    } else if (form === 'lines') {
      for (const batch of batches) {
        const line = JSON.stringify(batch)
        if (before.get(batch.id) !== line) print(line)
        before.set(batch.id, line)
      }
    }
  }
}
