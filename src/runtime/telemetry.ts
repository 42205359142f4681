import type { Logger } from './logger.ts'
import { bucketBounds, type CounterName, type HistogramName } from './metric-list.ts'
import type { Time } from './time.ts'

/** Values out of small closed sets: a status, an operation, a reason. Never an id, an address or a name. */
export type Labels = Readonly<Record<string, string | number>>

/** What the parts of the program count and measure. It goes where `logger` goes. */
export interface Telemetry {
  readonly count: (name: CounterName, labels?: Labels, by?: number) => void
  readonly observe: (name: HistogramName, value: number, labels?: Labels) => void
}

export const silentTelemetry: Telemetry = { count: () => {}, observe: () => {} }

/** One name with its labels, since the process began. */
export type Figure =
  | { readonly name: CounterName; readonly labels: Labels; readonly total: number }
  | {
      readonly name: HistogramName
      readonly labels: Labels
      readonly count: number
      readonly sum: number
      /** How many values were at most as large as the bucket's bound, which is in `bucketBounds`. */
      readonly buckets: readonly number[]
    }

/** Maximum number of names with labels; further ones are counted under their name without labels. */
const maxSeries = 1_000
const reportMs = 60_000

interface Counter {
  readonly name: CounterName
  readonly labels: Labels
  total: number
}

interface Histogram {
  readonly name: HistogramName
  readonly labels: Labels
  count: number
  sum: number
  readonly buckets: number[]
}

/** Keeps the figures in memory, and logs them in each minute with a count. */
export class LoggedTelemetry implements Telemetry {
  readonly #logger: Logger
  readonly #time: Pick<Time, 'after'>
  readonly #counters = new Map<string, Counter>()
  readonly #histograms = new Map<string, Histogram>()
  #cancelReport: (() => void) | undefined

  constructor(logger: Logger, time: Pick<Time, 'after'>) {
    this.#logger = logger
    this.#time = time
  }

  readonly count = (name: CounterName, labels: Labels = {}, by = 1): void => {
    const counter = seriesOf(this.#counters, name, labels, (kept) => ({
      name,
      labels: kept,
      total: 0,
    }))
    counter.total += by
    this.#cancelReport ??= this.#time.after(reportMs, () => this.#report())
  }

  readonly observe = (name: HistogramName, value: number, labels: Labels = {}): void => {
    const histogram = seriesOf(this.#histograms, name, labels, (kept) => ({
      name,
      labels: kept,
      count: 0,
      sum: 0,
      buckets: bucketBounds.map(() => 0),
    }))
    histogram.count += 1
    histogram.sum += value
    bucketBounds.forEach((bound, at) => {
      if (value <= bound) histogram.buckets[at] = (histogram.buckets[at] ?? 0) + 1
    })
    this.#cancelReport ??= this.#time.after(reportMs, () => this.#report())
  }

  figures(): Figure[] {
    return [...this.#counters.values(), ...this.#histograms.values()].map((each) => ({ ...each }))
  }

  /** Logs the figures that no line contains yet. */
  async stop(): Promise<void> {
    if (this.#cancelReport) this.#report()
  }

  #report(): void {
    this.#cancelReport?.()
    this.#cancelReport = undefined
    this.#logger.debug({ figures: this.figures() }, 'figures since the start')
  }
}

const seriesOf = <Series>(
  all: Map<string, Series>,
  name: string,
  labels: Labels,
  open: (labels: Labels) => Series,
): Series => {
  const key = `${name} ${JSON.stringify(labels)}`
  const known = all.get(key)
  if (known) return known
  const isFull = all.size >= maxSeries
  const keptKey = isFull ? name : key
  const series = all.get(keptKey) ?? open(isFull ? {} : labels)
  all.set(keptKey, series)
  return series
}
