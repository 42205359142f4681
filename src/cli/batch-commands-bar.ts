import type { Batch } from '../contract/batches.ts'

const barCells = 24
/** More than a terminal may have lines are shown as one sum: the cursor cannot go back further. */
const maxBars = 10

type CounterName = Extract<keyof Batch, `${string}_recipients`>

type Counted = Pick<Batch, CounterName> & { readonly status: string }

/** A bar for each batch, or one for all of them. */
export const batchBars = (batches: readonly Batch[]): string[] =>
  batches.length <= maxBars ? batches.map(batchBar) : [batchBar(sumOf(batches))]

const sumOf = (batches: readonly Batch[]): Counted => {
  const sum = (member: CounterName): number =>
    batches.reduce((total, batch) => total + batch[member], 0)
  return {
    status: `${batches.length} batches`,
    total_recipients: sum('total_recipients'),
    pending_recipients: sum('pending_recipients'),
    queued_recipients: sum('queued_recipients'),
    in_progress_recipients: sum('in_progress_recipients'),
    completed_recipients: sum('completed_recipients'),
    failed_recipients: sum('failed_recipients'),
    cancelled_recipients: sum('cancelled_recipients'),
    answered_recipients: sum('answered_recipients'),
    no_answer_recipients: sum('no_answer_recipients'),
    busy_recipients: sum('busy_recipients'),
  }
}

/** One line about a batch: how much of it has ended, and how. */
export const batchBar = (batch: Counted): string => {
  const ended = batch.completed_recipients + batch.failed_recipients + batch.cancelled_recipients
  const full = Math.floor((ended / batch.total_recipients) * barCells)
  const bar = '█'.repeat(full) + '░'.repeat(barCells - full)
  const counts = countsOf(batch)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
  const progress = `${String(ended).padStart(String(batch.total_recipients).length)}/${batch.total_recipients}`
  return [bar, progress, batch.status.padEnd(11), counts.join(', ')].join('  ').trimEnd()
}

const countsOf = (batch: Counted): readonly (readonly [string, number])[] => {
  const { answered_recipients: answered, no_answer_recipients: noAnswer } = batch
  const { busy_recipients: busy, completed_recipients: completed } = batch
  return [
    ['answered', answered],
    ['no answer', noAnswer],
    ['busy', busy],
    ['voicemail', completed - answered - noAnswer - busy],
    ['failed', batch.failed_recipients],
    ['cancelled', batch.cancelled_recipients],
    ['live', batch.in_progress_recipients],
    ['waiting', batch.pending_recipients + batch.queued_recipients],
  ]
}
