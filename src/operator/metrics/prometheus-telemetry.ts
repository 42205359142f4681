import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import {
  counters,
  gauges,
  histograms,
  type GaugeName,
  type MetricName,
} from '../../runtime/metric-list.ts'
import type { Labels, Telemetry } from '../../runtime/telemetry.ts'
import type { GaugeValue } from './gauge-store.ts'

/** Series of one metric; values of further labels are counted as `other`. */
const maxSeries = 200

export interface PrometheusTelemetry extends Telemetry {
  readonly registry: Registry
  /** Replaces every series of every gauge. */
  setGauges(values: readonly GaugeValue[]): void
}

/** Keeps the metrics of the list, and those of the process, for a scrape. */
export const createPrometheusTelemetry = (): PrometheusTelemetry => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const counterOf = mapOf(
    counters,
    (name, { help, labels }) =>
      new Counter({ name, help, labelNames: [...labels], registers: [registry] }),
  )
  const histogramOf = mapOf(
    histograms,
    (name, { help, labels, buckets }) =>
      new Histogram({
        name,
        help,
        labelNames: [...labels],
        buckets: [...buckets],
        registers: [registry],
      }),
  )
  const gaugeOf = mapOf(
    gauges,
    (name, { help, labels }) =>
      new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
  )
  const bounded = createBound()
  return {
    registry,
    count: (name, labels = {}, by = 1) => counterOf[name].inc(bounded(name, labels), by),
    observe: (name, value, labels = {}) => histogramOf[name].observe(bounded(name, labels), value),
    setGauges: (values) => {
      for (const [name, { labels }] of Object.entries(gauges)) {
        const gauge = gaugeOf[name as GaugeName]
        if (labels.length > 0) gauge.reset()
        else gauge.remove()
      }
      for (const { name, labels, value } of values) gaugeOf[name].set(labels, value)
    },
  }
}

const mapOf = <Definitions extends object, Made>(
  definitions: Definitions,
  make: (name: keyof Definitions & string, definition: Definitions[keyof Definitions]) => Made,
): Record<keyof Definitions, Made> =>
  Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [
      name,
      make(name as keyof Definitions & string, definition as Definitions[keyof Definitions]),
    ]),
  ) as Record<keyof Definitions, Made>

/** Returns the labels, or `other` for each of them once the metric has its maximum of series. */
const createBound = () => {
  const known = new Map<MetricName, Set<string>>()
  return (name: MetricName, labels: Labels): Labels => {
    const series = known.get(name) ?? new Set()
    known.set(name, series)
    const key = Object.values(labels).join('\n')
    if (series.has(key)) return labels
    if (series.size < maxSeries) {
      series.add(key)
      return labels
    }
    return Object.fromEntries(Object.keys(labels).map((label) => [label, 'other']))
  }
}
