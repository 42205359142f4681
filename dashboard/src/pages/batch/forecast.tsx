import { Group, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense, use } from 'react'
import { fetchProgram } from '../../client/fetch-program.ts'
import type { AnswerOf } from '../../client/table.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { formatInstant, Instant, ZoneContext } from '../../parts/instant.tsx'
import { hoursBeside, type ForecastHour } from './forecast-hours.ts'

const Chart = lazy(() =>
  fetchProgram(() => import('./forecast-chart.tsx')).then((program) => ({
    default: program.ForecastChart,
  })),
)

export type Forecast = AnswerOf<'forecastBatch'>

/** When the recipients would ring, and while the batch runs what was expected beside what came. */
export const ForecastSection = ({ forecast }: { forecast: Forecast }) => {
  const zone = use(ZoneContext)
  const hours = hoursBeside(forecast)
  return (
    <Stack component="section" aria-labelledby="forecast" gap="xs">
      <Title order={2} size="h4" id="forecast">
        Forecast
      </Title>
      <Sentence forecast={forecast} />
      {forecast.at_start && <Kept forecast={forecast} />}
      {hours.length > 0 && (
        <>
          <Suspense fallback={<div className="forecast-chart" />}>
            <Chart hours={hours} timeZone={zone} />
          </Suspense>
          <details>
            <summary>The same as a table</summary>
            <DataTable
              label="Rings by hour"
              columns={columnsOf(zone, forecast.at_start !== undefined)}
              rows={hours}
              keyOf={({ hour }) => hour}
            />
          </details>
        </>
      )}
      <Basis forecast={forecast} />
    </Stack>
  )
}

const Sentence = ({ forecast }: { forecast: Forecast }) => {
  const { waiting, will_ring: rings, first_ring_at: first, last_ring_at: last } = forecast
  if (waiting === 0) return <Text size="sm">Everybody was called, or nobody will be.</Text>
  if (rings === 0)
    return (
      <Text size="sm">None of the {waiting} who wait would ring; the list below says why.</Text>
    )
  return (
    <Text size="sm" component="div">
      <Group gap="xs">
        <span>
          {rings} of {waiting} who wait would ring
        </span>
        <span>
          from <Instant at={first} />
        </span>
        <span>
          to <Instant at={last} />,
        </span>
        <span>about {forecast.expected_answers} would answer,</span>
        <span>
          and the last call would end <Instant at={forecast.ends_at} />.
        </span>
      </Group>
    </Text>
  )
}

const Kept = ({ forecast: { at_start: kept, fact } }: { forecast: Forecast }) =>
  kept && (
    <Text size="sm">
      When it began, the last ring was expected <Instant at={kept.last_ring_at} /> and the end{' '}
      <Instant at={kept.ends_at} />; {fact.rung} of {kept.will_ring} have rung
      {fact.last_ring_at !== undefined && (
        <>
          , the latest <Instant at={fact.last_ring_at} />
        </>
      )}
      .
    </Text>
  )

const sources = {
  agent: 'the agent’s latest',
  organization: 'the organization’s latest',
  default: '',
} as const

const Basis = ({ forecast: { basis, ...rest } }: { forecast: Forecast }) => (
  <Text size="xs">
    Reckoned with {rest.lines} lines, {rest.calls_per_second} calls a second, {basis.line_seconds} s
    a call and {Math.round(basis.answer_rate * 100)} % answered{' '}
    {basis.source === 'default'
      ? '(assumed: too few calls have ended yet)'
      : `(${sources[basis.source]} ${basis.calls} calls)`}
    , after {rest.other_calls} other calls that wait. {rest.notes.join(' ')}
  </Text>
)

const columnsOf = (zone: string, isRunning: boolean): readonly Column<ForecastHour>[] => [
  { name: 'Hour', cell: ({ hour }) => formatInstant(hour, zone) },
  ...(isRunning
    ? [{ name: 'Expected at start', cell: ({ expected }: ForecastHour) => expected }]
    : []),
  { name: 'Rung', cell: ({ rung }) => rung },
  { name: 'Still to ring', cell: ({ coming }) => coming },
]
