import type { Command } from 'commander'
import type { BatchForecast, ForecastHours } from '../../contract/console/forecasts.ts'
import { forecastBatch } from '../../domains/batches/forecast/forecast-batch.ts'
import { requireBatch } from './batch-actions.ts'
import type { CliContext } from '../cli-context.ts'
import { withLocalTime } from '../terminal/local-time.ts'
import { facts, show, type Lines, type OutputOptions } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { requireOwner, withOrganization, type OrganizationOption } from '../require-organization.ts'

/** `outdial batch forecast ID`: when its recipients would ring. */
export const addBatchForecast = (batch: Command, context: CliContext): void => {
  withOrganization(
    batch
      .command('forecast')
      .description('when the recipients of a batch would ring, were it started now')
      .argument('<id>'),
    'batch',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const forecast = await context.withDatabase(async (db) => {
        const organizationId = await requireOwner(db, options, 'batch', id)
        return forecastBatch(db, organizationId, await requireBatch(db, organizationId, id))
      })
      show(context, options, forecast, (width) => describe(forecast, width))
    })
}

const describe = (forecast: BatchForecast, width?: number): Lines => [
  ...facts(
    [
      ['waiting', String(forecast.waiting)],
      ['will ring', String(forecast.will_ring)],
      ['first', instant(forecast.first_ring_at)],
      ['last', instant(forecast.last_ring_at)],
      ['ends', instant(forecast.ends_at)],
      ['answers', `about ${forecast.expected_answers}`],
      ['lines', `${forecast.lines}, ${forecast.calls_per_second} calls per second`],
      ['ahead', `${forecast.other_calls} other calls`],
      ['assumes', basisOf(forecast)],
      [
        'expected',
        forecast.at_start &&
          `${instant(forecast.at_start.last_ring_at) ?? 'no ring'}, when it began`,
      ],
      ['rung', `${forecast.fact.rung} so far`],
    ],
    width,
  ),
  ...forecast.notes,
  ...neverLines(forecast),
  '',
  ...table(
    ['HOUR', 'EXPECTED', 'RUNG'],
    rowsOf(forecast.hours, forecast.fact.hours),
    'Nobody rings.',
    width,
  ),
]

const instant = (at: string | undefined): string | undefined =>
  at === undefined ? undefined : withLocalTime(at)

const basisOf = ({ basis }: BatchForecast): string =>
  `${basis.line_seconds} s a call, ${Math.round(basis.answer_rate * 100)} % answered ${
    basis.source === 'default'
      ? '(by default: too few calls have ended)'
      : `(the latest ${basis.calls} calls of the ${basis.source})`
  }`

const neverLines = ({ recipients }: BatchForecast): string[] => {
  const reasons = Map.groupBy(
    recipients.filter(({ never }) => never !== undefined),
    ({ never }) => never ?? '',
  )
  return [...reasons].map(
    ([reason, of]) => `${of.length} never ring: ${reason.replaceAll('_', ' ')}.`,
  )
}

const rowsOf = (expected: ForecastHours, rung: ForecastHours): string[][] => {
  const hours = new Map<string, [number, number]>()
  for (const { hour, rings } of rung) hours.set(hour, [0, rings])
  for (const { hour, rings } of expected) hours.set(hour, [rings, hours.get(hour)?.[1] ?? 0])
  return [...hours]
    .toSorted(([left], [right]) => left.localeCompare(right))
    .map(([hour, [wanted, came]]) => [
      hour.slice(0, 16).replace('T', ' '),
      String(wanted),
      String(came),
    ])
}
