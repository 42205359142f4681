import { Text } from '@mantine/core'
import { DataTable, type Column } from './data-table.tsx'

interface Hour {
  readonly hour: number
  readonly calls: number
  readonly answered: number
}

interface HourBarsProps {
  readonly hours: readonly Hour[]
  readonly timeZone: string
}

const width = 24
const height = 10

/** Bars of each hour of the day, the answered part filled; the same figures as a table for who does not see them. */
export const HourBars = ({ hours, timeZone }: HourBarsProps) => {
  const most = Math.max(1, ...hours.map(({ calls }) => calls))
  return (
    <>
      <svg
        className="hours"
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        aria-hidden
      >
        {hours.map(({ hour, calls, answered }) => (
          <g key={hour}>
            <title>{`${hourName(hour)}: ${calls} calls, ${answered} answered`}</title>
            <Bar className="called" hour={hour} share={calls / most} />
            <Bar className="answered" hour={hour} share={answered / most} />
          </g>
        ))}
        <line className="ground" x1={0} x2={width} y1={height} y2={height} />
      </svg>
      <Text size="xs" className="hour-names" component="div" aria-hidden>
        <span>00:00</span>
        <span>06:00</span>
        <span>12:00</span>
        <span>18:00</span>
        <span>24:00</span>
      </Text>
      <Text size="xs">
        Filled: answered. Hours of {timeZone.replaceAll('_', ' ')}; most in an hour: {most}.
      </Text>
      <DataTable
        label="Calls by hour"
        columns={columns}
        rows={hours}
        keyOf={({ hour }) => String(hour)}
      />
    </>
  )
}

const Bar = ({ className, hour, share }: { className: string; hour: number; share: number }) => (
  <rect
    className={className}
    x={hour + 0.1}
    width={0.8}
    y={height * (1 - share)}
    height={height * share}
  />
)

const hourName = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

const columns: readonly Column<Hour>[] = [
  { name: 'Hour', cell: ({ hour }) => hourName(hour) },
  { name: 'Calls', cell: ({ calls }) => calls },
  { name: 'Answered', cell: ({ answered }) => answered },
]
