import { formatDateTime } from '../../../contract/date-time.ts'
import type { RunFailureCode } from '../../../contract/automation-runs.ts'
import type { AnswerStatus, CallStatus } from '../../../contract/states.ts'
import { describeLocalTime } from '../../../calling-hours/local-time.ts'
import type { SimulatedMove, SimulatedRun } from './simulate.ts'

/** One line: the instant, the callee's local time, the run's action and step, and the reason. */
interface TimetableEntry {
  readonly at: string
  /** In the callee's first possible zone. */
  readonly local_time: string
  readonly step: string | null
  readonly move: string
  /** The target step of a `move`. */
  readonly to?: string
  readonly attempt?: number
  /** How the simulated call ended. */
  readonly call?: {
    readonly dialled_at: string
    readonly status: CallStatus
    readonly answer_status: AnswerStatus
    readonly outcome?: string
  }
  readonly until?: string
  readonly until_local_time?: string
  readonly reason: string
}

export interface Timetable {
  readonly status: 'completed' | 'failed'
  readonly failure_code?: RunFailureCode
  readonly ended_at: string
  readonly calls: number
  /** The callee's possible zones, by the number. */
  readonly time_zones: readonly string[]
  readonly entries: readonly TimetableEntry[]
}

/** A simulated run as commands print it. */
export const timetableOf = (run: SimulatedRun): Timetable => ({
  status: run.status,
  ...(run.failureCode !== undefined && { failure_code: run.failureCode }),
  ended_at: instant(run.endedMs),
  calls: run.moves.filter(({ effect }) => effect.kind === 'call').length,
  time_zones: run.timeZones,
  entries: run.moves.map((move) => entryOf(move, run.timeZones[0] ?? 'UTC')),
})

const instant = (epochMs: number): string => formatDateTime(new Date(epochMs))

const entryOf = ({ atMs, step, effect, call }: SimulatedMove, zone: string): TimetableEntry => {
  const untilMs = untilOf(effect)
  return {
    at: instant(atMs),
    local_time: describeLocalTime(atMs, zone),
    step: effect.kind === 'start' ? effect.step : step,
    move: effect.kind === 'sleep' || effect.kind === 'hold' ? effect.because : effect.kind,
    ...(effect.kind === 'move' && { to: effect.to }),
    ...(effect.kind === 'call' && { attempt: effect.attempt }),
    ...(call && {
      call: {
        dialled_at: instant(call.dialledMs),
        status: call.answer.status,
        answer_status: call.answer.answerStatus,
        ...(call.answer.outcome !== null && { outcome: call.answer.outcome }),
      },
    }),
    ...(untilMs !== undefined && {
      until: instant(untilMs),
      until_local_time: describeLocalTime(untilMs, zone),
    }),
    reason: effect.reason,
  }
}

const untilOf = (effect: SimulatedMove['effect']): number | undefined => {
  if (effect.kind === 'sleep') return effect.dueMs
  return effect.kind === 'hold' ? (effect.lookMs ?? undefined) : undefined
}
