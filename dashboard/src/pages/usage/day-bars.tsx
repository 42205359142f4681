import { Text } from '@mantine/core'

interface Day {
  readonly day?: string | undefined
  readonly calls: number
  readonly answered: number
}

interface DayBarsProps {
  readonly days: readonly Day[]
  readonly from: string
  readonly to: string
}

const height = 10
const dayMs = 86_400_000

/** Bars of each day, the answered part filled; the table beside it has the same figures for who does not see them. */
export const DayBars = ({ days, from, to }: DayBarsProps) => {
  const first = Date.parse(from)
  const width = Math.round((Date.parse(to) - first) / dayMs) + 1
  const most = Math.max(1, ...days.map(({ calls }) => calls))
  return (
    <>
      <svg
        className="hours"
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        aria-hidden
      >
        {days.map(({ day = from, calls, answered }) => {
          const x = Math.round((Date.parse(day) - first) / dayMs) + 0.1
          return (
            <g key={day}>
              <title>{`${day}: ${calls} calls, ${answered} answered`}</title>
              <Bar className="called" x={x} share={calls / most} />
              <Bar className="answered" x={x} share={answered / most} />
            </g>
          )
        })}
        <line className="ground" x1={0} x2={width} y1={height} y2={height} />
      </svg>
      <Text size="xs" className="hour-names" component="div" aria-hidden>
        <span>{from}</span>
        <span>{to}</span>
      </Text>
      <Text size="xs">Filled: answered. Most calls on a day: {most}.</Text>
    </>
  )
}

const Bar = ({ className, x, share }: { className: string; x: number; share: number }) => (
  <rect className={className} x={x} width={0.8} y={height * (1 - share)} height={height * share} />
)
