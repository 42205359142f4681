import { useRef, useState, type KeyboardEvent } from 'react'
import { cellState, hours, paint, partsOf, timeOf, weekdays, type Week } from './policy-hours.ts'

interface HoursGridProps {
  readonly week: Week
  readonly onChange: (week: Week) => void
  readonly isReadOnly: boolean
}

const steps: Readonly<Record<string, readonly [days: number, hours: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** A week of hours. Arrows move, Space toggles, Shift with arrows and a pressed mouse paint what was set last. */
export const HoursGrid = ({ week, onChange, isReadOnly }: HoursGridProps) => {
  const [place, setPlace] = useState<readonly [day: number, hour: number]>([0, 9])
  const brush = useRef(true)
  const isPainting = useRef(false)
  const table = useRef<HTMLTableElement>(null)

  const isOpen = (day: number, hour: number): boolean =>
    cellState(week, dayAt(day), hour) === 'open'
  const paintAll = (...cells: readonly (readonly [number, number])[]): void => {
    if (isReadOnly) return
    onChange(
      cells.reduce((painted, [day, hour]) => paint(painted, dayAt(day), hour, brush.current), week),
    )
  }
  const begin = (day: number, hour: number): void => {
    brush.current = !isOpen(day, hour)
    paintAll([day, hour])
  }
  const onKeyDown = (event: KeyboardEvent, day: number, hour: number): void => {
    if (event.key === ' ') begin(day, hour)
    const step = steps[event.key]
    const next = step
      ? ([clamp(day + step[0], weekdays.length), clamp(hour + step[1], hours.length)] as const)
      : edgeOf(event.key, day)
    if (event.key !== ' ' && !next) return
    event.preventDefault()
    if (!next) return
    if (event.shiftKey) paintAll([day, hour], next)
    setPlace(next)
    table.current?.querySelector<HTMLElement>(`[data-place="${next.join(':')}"]`)?.focus()
  }
  return (
    <div className="wide">
      <table
        ref={table}
        className="week-grid"
        role="grid"
        aria-label="Hours in which people may be called"
        aria-readonly={isReadOnly}
        aria-multiselectable="true"
        onPointerUp={() => (isPainting.current = false)}
        onPointerLeave={() => (isPainting.current = false)}
      >
        <thead>
          <tr role="row">
            <th scope="col" role="columnheader">
              Day
            </th>
            {hours.map((hour) => (
              <th key={hour} scope="col" role="columnheader" aria-label={timeOf(hour * 60)}>
                {String(hour).padStart(2, '0')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weekdays.map((day, row) => (
            <tr key={day} role="row">
              <th scope="row" role="rowheader">
                {nameOf(day)}
              </th>
              {hours.map((hour) => {
                const state = cellState(week, day, hour)
                const parts = state === 'partly' ? partsOf(week, day, hour) : undefined
                return (
                  <td
                    key={hour}
                    role="gridcell"
                    data-place={`${row}:${hour}`}
                    data-state={state}
                    aria-label={`${nameOf(day)} ${timeOf(hour * 60)}`}
                    aria-description={parts && `Open ${parts}`}
                    title={parts}
                    aria-selected={state === 'open'}
                    tabIndex={row === place[0] && hour === place[1] ? 0 : -1}
                    onFocus={() => setPlace([row, hour])}
                    onKeyDown={(event) => onKeyDown(event, row, hour)}
                    onPointerDown={(event) => {
                      if (event.button !== 0) return
                      event.currentTarget.releasePointerCapture(event.pointerId)
                      isPainting.current = true
                      begin(row, hour)
                    }}
                    onPointerEnter={() => isPainting.current && paintAll([row, hour])}
                  >
                    {state === 'partly' ? '◐' : state === 'open' ? '●' : ''}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const dayAt = (row: number) => weekdays[row] ?? 'monday'
const nameOf = (day: string): string => day.charAt(0).toUpperCase() + day.slice(1)
const clamp = (value: number, length: number): number => Math.min(length - 1, Math.max(0, value))

const edgeOf = (key: string, day: number): readonly [number, number] | undefined => {
  if (key === 'Home') return [day, 0]
  return key === 'End' ? [day, hours.length - 1] : undefined
}
