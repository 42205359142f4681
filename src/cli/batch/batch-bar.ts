import type { Batch } from '../../contract/batches.ts'
import { gap, hanging, type Lines, type Piece } from '../terminal/output.ts'

const barCells = { most: 24, least: 8 }
/**
 * More bars, of two lines each, than a terminal may have lines become one sum, because the cursor cannot move
 * further up.
 */
const maxBars = 10

type CounterName = Extract<keyof Batch, `${string}_recipients`>

type Counted = Pick<Batch, CounterName> & { readonly status: string }

/** A bar for each batch, or one for all of them. */
export const batchBars = (batches: readonly Batch[], width?: number): Lines =>
  batches.length <= maxBars
    ? batches.flatMap((batch) => batchBar(batch, width))
    : batchBar(sumOf(batches), width)

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

/**
 * The progress and results of a batch: one line, and in a narrow terminal the counts below. A bar shrinks rather
 * than exceed the terminal's width.
 */
export const batchBar = (batch: Counted, width = Number.POSITIVE_INFINITY): Lines => {
  const ended = batch.completed_recipients + batch.failed_recipients + batch.cancelled_recipients
  const total = String(batch.total_recipients)
  const progress = `${String(ended).padStart(total.length)}/${total}`
  const status = batch.status.padEnd(11)
  const counts = countsOf(batch)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
  const words = [progress, status, counts].join(gap).trimEnd()
  const fits = barCells.most + gap.length + words.length <= width
  const besides = gap.length + progress.length + gap.length + status.length
  const cells = fits ? barCells.most : clamp(width - besides)
  const bar = barOf(ended / batch.total_recipients, cells)
  if (fits) return [[...bar, gap, words]]
  return [[...bar, gap, progress, gap, batch.status], ...hanging(gap, counts, width)]
}

const clamp = (cells: number): number => Math.max(barCells.least, Math.min(barCells.most, cells))

const barOf = (share: number, cells: number): readonly Piece[] => {
  const full = Math.floor(share * cells)
  return [
    { style: 'good', text: '█'.repeat(full) },
    { style: 'dim', text: '░'.repeat(cells - full) },
  ]
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
