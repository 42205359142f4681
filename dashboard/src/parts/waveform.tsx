import type { KeyboardEvent, PointerEvent } from 'react'
import { formatLength } from './instant.tsx'

interface WaveformProps {
  /** The loudest sample of each tenth of a second, 0 to 1. */
  readonly agent: readonly number[]
  readonly contact: readonly number[]
  readonly durationSeconds: number
  readonly positionSeconds: number
  readonly onSeek: (seconds: number) => void
}

/** More columns than a screen shows apart are drawn together. */
const maxColumns = 600
const laneHeight = 50
const stepSeconds = 5

/** The agent above, the callee below, on one clock; a slider for mouse and keyboard. */
export const Waveform = (properties: WaveformProps) => {
  const { agent, contact, durationSeconds, positionSeconds, onSeek } = properties
  const lanes = [columnsOf(agent), columnsOf(contact)]
  const width = Math.max(1, ...lanes.map((lane) => lane.length))
  const played = durationSeconds > 0 ? Math.min(1, positionSeconds / durationSeconds) * width : 0
  const seekTo = (seconds: number) => onSeek(Math.max(0, Math.min(durationSeconds, seconds)))
  const seekByPointer = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    seekTo(((event.clientX - box.left) / box.width) * durationSeconds)
  }
  const seekByKey = (event: KeyboardEvent) => {
    const target = keyTarget(event.key, positionSeconds, durationSeconds)
    if (target === undefined) return
    event.preventDefault()
    seekTo(target)
  }
  return (
    <div
      className="waveform"
      role="slider"
      tabIndex={0}
      aria-label="Position in the recording"
      aria-valuemin={0}
      aria-valuemax={Math.round(durationSeconds)}
      aria-valuenow={Math.round(positionSeconds)}
      aria-valuetext={`${formatLength(positionSeconds)} of ${formatLength(durationSeconds)}`}
      onPointerDown={seekByPointer}
      onKeyDown={seekByKey}
    >
      <svg viewBox={`0 0 ${width} ${laneHeight * 2}`} preserveAspectRatio="none" aria-hidden>
        {lanes.map((lane, index) => (
          <path
            key={index === 0 ? 'agent' : 'contact'}
            className={index === 0 ? 'agent-lane' : 'contact-lane'}
            d={lanePath(lane, laneHeight * (index + 0.5))}
          />
        ))}
        <rect className="played" x={0} y={0} width={played} height={laneHeight * 2} />
      </svg>
    </div>
  )
}

const keyTarget = (key: string, position: number, duration: number): number | undefined => {
  if (key === 'ArrowRight' || key === 'ArrowUp') return position + stepSeconds
  if (key === 'ArrowLeft' || key === 'ArrowDown') return position - stepSeconds
  if (key === 'Home') return 0
  return key === 'End' ? duration : undefined
}

const columnsOf = (peaks: readonly number[]): readonly number[] => {
  const perColumn = Math.ceil(peaks.length / maxColumns)
  if (perColumn <= 1) return peaks
  return Array.from({ length: Math.ceil(peaks.length / perColumn) }, (_, column) =>
    Math.max(...peaks.slice(column * perColumn, (column + 1) * perColumn)),
  )
}

const lanePath = (lane: readonly number[], middle: number): string =>
  lane
    .map((peak, column) => {
      const half = Math.max(0.5, peak * (laneHeight / 2 - 2))
      return `M${column + 0.5} ${(middle - half).toFixed(1)}V${(middle + half).toFixed(1)}`
    })
    .join('')
