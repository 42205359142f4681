import { Text } from '@mantine/core'
import { formatInstant } from '../../parts/instant.tsx'
import type { ForecastHour } from './forecast-hours.ts'

interface ForecastChartProps {
  readonly hours: readonly ForecastHour[]
  readonly timeZone: string
}

const height = 10

/** A bar for each hour with any ring; the table beside it has the same figures. */
export const ForecastChart = ({ hours, timeZone }: ForecastChartProps) => {
  const most = Math.max(...hours.map((each) => Math.max(each.expected, each.rung + each.coming)))
  const [first, last] = [hours[0], hours.at(-1)]
  return (
    <figure className="forecast-chart">
      <svg
        viewBox={`0 0 ${Math.max(hours.length, 8)} ${height}`}
        preserveAspectRatio="none"
        aria-hidden
      >
        {hours.map(({ hour, expected, rung, coming }, place) => (
          <g key={hour}>
            <title>{`${formatInstant(hour, timeZone)}: ${rung} rung, ${coming} to come, ${expected} expected at the start`}</title>
            <Bar className="coming" place={place} share={(rung + coming) / most} />
            <Bar className="rung" place={place} share={rung / most} />
            {expected > 0 && <Line place={place} share={expected / most} />}
          </g>
        ))}
      </svg>
      <figcaption>
        <Text size="xs">
          {first && formatInstant(first.hour, timeZone)} to{' '}
          {last && formatInstant(last.hour, timeZone)}, by hours in which somebody rings. Filled:
          rung; pale: to come; line: expected when it began. Most in an hour: {most}.
        </Text>
      </figcaption>
    </figure>
  )
}

interface BarProps {
  readonly className: string
  readonly place: number
  readonly share: number
}

const Bar = ({ className, place, share }: BarProps) => (
  <rect
    className={className}
    x={place + 0.1}
    width={0.8}
    y={height * (1 - share)}
    height={height * share}
  />
)

const Line = ({ place, share }: { place: number; share: number }) => (
  <line
    className="expected"
    x1={place}
    x2={place + 1}
    y1={height * (1 - share)}
    y2={height * (1 - share)}
  />
)
