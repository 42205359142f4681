import type { AutomationDefinition, Step } from '../../../src/domains/automations/definition.ts'

/** A move in the run's history. */
export interface MoveRow {
  readonly sequence: number
  readonly step: string | null
  readonly move: string
  readonly attempt: number | null
  readonly call_id: string | null
  readonly until: Date | null
  readonly at: Date
}

export interface RunHistory {
  readonly id: string
  readonly status: string
  readonly sequence: number
  readonly isDue: boolean
  readonly definition: AutomationDefinition
  readonly moves: readonly MoveRow[]
  /** Calls of this run in the calls table. */
  readonly calls: ReadonlyMap<string, { readonly answer_status: string | null }>
}

const terminal: Readonly<Record<string, string>> = {
  complete: 'completed',
  fail: 'failed',
  cancel: 'cancelled',
}

/**
 * Follows the definition by the answer statuses of the calls and checks every move: none may be missing, repeated,
 * early, or lead elsewhere. Written from decision D6, not from the runner.
 */
export const runProblems = (run: RunHistory): string[] => {
  const problems: string[] = []
  const wrong = (text: string): void => {
    problems.push(`run ${run.id}: ${text}`)
  }
  run.moves.forEach(({ sequence }, index) => {
    if (sequence !== index + 1) wrong(`its move ${index + 1} is numbered ${sequence}`)
  })
  if (run.sequence !== run.moves.length)
    wrong(`it counts ${run.sequence} moves and kept ${run.moves.length}`)
  checkCalls(run, wrong)
  checkWay(run, wrong)
  const end = terminal[run.moves.at(-1)?.move ?? '']
  if (end === undefined && !run.isDue) wrong(`it is ${run.status} and nothing will wake it`)
  if (end !== undefined && end !== run.status) wrong(`it came to ${end} and is ${run.status}`)
  return problems
}

type Wrong = (text: string) => void

const checkCalls = ({ moves, calls }: RunHistory, wrong: Wrong): void => {
  const placed = moves.filter(({ move }) => move === 'call').map(({ call_id }) => call_id ?? '')
  if (new Set(placed).size !== placed.length) wrong('two of its attempts are one call')
  for (const id of placed) if (!calls.has(id)) wrong(`its call ${id} does not exist`)
  for (const id of calls.keys()) if (!placed.includes(id)) wrong(`no move placed its call ${id}`)
}

interface Place {
  readonly step: string
  readonly attempt: number
  readonly answer: string | null
  /** What an active wait or delay waits for. */
  readonly until: Date | null
}

const checkWay = (run: RunHistory, wrong: Wrong): void => {
  let place: Place | undefined
  let callId: string | null = null
  for (const row of run.moves) {
    if (row.move === 'call') callId = row.call_id
    const answer = callId === null ? null : (run.calls.get(callId)?.answer_status ?? null)
    if (row.move in terminal) return checkEnd(run, row, place, wrong)
    if (row.move === 'start') {
      if (place) wrong('it started twice')
      if (row.step !== run.definition.entry) wrong(`it started at ${row.step}`)
      place = entered(row, null)
      continue
    }
    if (!place) {
      wrong(`it made the move ${row.move} before it started`)
      return
    }
    const problem = problemOf(run.definition, row, place, answer)
    if (problem !== undefined) wrong(`move ${row.sequence}, ${row.move}: ${problem}`)
    place = after(row, place, answer)
  }
}

const entered = (row: MoveRow, answer: string | null): Place => ({
  step: row.step ?? '',
  attempt: 0,
  answer,
  until: null,
})

const after = (row: MoveRow, place: Place, answer: string | null): Place => {
  switch (row.move) {
    case 'move':
      return entered(row, answer)
    case 'call':
      return { ...place, attempt: place.attempt + 1, until: null }
    case 'wait_step':
    case 'retry_delay':
      return { ...place, until: row.until }
    default:
      return place
  }
}

/** Why this move must not follow, if it must not. */
const problemOf = (
  definition: AutomationDefinition,
  row: MoveRow,
  place: Place,
  answer: string | null,
): string | undefined => {
  const step = definition.steps[place.step]
  if (!step) return `there is no step ${place.step}`
  if (row.move !== 'move' && row.step !== place.step)
    return `it is at ${place.step}, not ${row.step}`
  const isEarly = place.until !== null && row.at < place.until
  switch (row.move) {
    case 'call':
      if (step.type !== 'call') return `${place.step} places no calls`
      if (row.attempt !== place.attempt + 1) return `attempt ${row.attempt} after ${place.attempt}`
      return isEarly ? 'its delay was not over' : undefined
    case 'retry_delay':
      if (step.type !== 'call') return `${place.step} has no delays`
      if (place.until !== null) return undefined
      return mayRetry(step, place.attempt, answer) ? undefined : `no retry after ${answer}`
    case 'wait_step':
      return step.type === 'wait' ? undefined : `${place.step} is no wait`
    case 'move': {
      if (isEarly) return 'its wait was not over'
      if (step.type === 'call' && place.attempt === 0) return 'its call was skipped'
      if (step.type === 'call' && mayRetry(step, place.attempt, answer))
        return 'a retry was skipped'
      if (step.type === 'wait' && place.until === null) return 'its wait was skipped'
      const next = nextStep(step, place.answer)
      return row.step === next ? undefined : `it went to ${row.step} instead of ${next}`
    }
    case 'calling_hours':
    case 'paused':
      return 'nothing closes hours or pauses Automations here'
    default:
      return 'there is no such move'
  }
}

type CallStep = Extract<Step, { type: 'call' }>

const mayRetry = ({ retry }: CallStep, attempt: number, answer: string | null): boolean =>
  retry !== undefined && attempt < retry.max_attempts && retry.on.some((each) => each === answer)

/** The trial's definitions branch only on answer statuses. */
const nextStep = (step: Step, answer: string | null): string | undefined => {
  if (step.type === 'end') return undefined
  if (step.type !== 'branch') return step.next
  const match = step.cases.find(({ when }) => when.answer_status?.some((each) => each === answer))
  return match?.next ?? step.otherwise
}

const checkEnd = (run: RunHistory, row: MoveRow, place: Place | undefined, wrong: Wrong): void => {
  if (row !== run.moves.at(-1)) wrong(`it went on after ${row.move}`)
  if (row.move === 'cancel') return
  const step = run.definition.steps[place?.step ?? '']
  const wanted = row.move === 'complete' ? 'completed' : 'failed'
  if (step?.type !== 'end' || step.result !== wanted)
    wrong(`it came to ${wanted} at ${place?.step}, which says otherwise`)
}
