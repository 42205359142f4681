import type { AutomationRunStatus } from '../../contract/automation-runs.ts'
import { isTerminal } from '../calls/lifecycle/call-states.ts'
import type { AutomationDefinition, BranchStep, CallStep, Step } from './definition.ts'
import type { RunPlace } from './run-position-store.ts'
import { isActive } from './run-states.ts'

/** What a run does next, as far as it is known. */
interface NextMove {
  /** One sentence. */
  readonly message: string
  /** When; omitted if an event decides it. */
  readonly at?: Date
  /** The steps that may follow, each once. */
  readonly steps: readonly string[]
}

/** Undefined for a run that has ended, or whose definition this program cannot read. */
export const whatComesNext = (
  status: AutomationRunStatus,
  definition: AutomationDefinition | undefined,
  place: Omit<RunPlace, 'definition'>,
): NextMove | undefined => {
  if (!isActive(status) || !definition) return undefined
  if (place.cancel_requested_at)
    return { message: 'It is cancelled when its live call ends.', steps: [] }
  if (place.step === null)
    return { message: `It begins at "${definition.entry}".`, steps: [definition.entry] }
  const step = definition.steps[place.step]
  return step && { ...nextOf(step, place.step, place), ...atOf(place) }
}

const nextOf = (
  step: Step,
  name: string,
  place: Omit<RunPlace, 'definition'>,
): Pick<NextMove, 'message' | 'steps'> => {
  switch (step.type) {
    case 'call':
      return nextOfCall(step, name, place)
    case 'wait':
      return { message: `After the wait it goes on to "${step.next}".`, steps: [step.next] }
    case 'branch': {
      const steps = waysOfBranch(step)
      return { message: `It chooses among ${steps.map(quoted).join(', ')}.`, steps }
    }
    case 'end':
      return { message: `It ends ${step.failure_code ?? step.result}.`, steps: [] }
  }
}

const nextOfCall = (
  step: CallStep,
  name: string,
  place: Omit<RunPlace, 'definition'>,
): Pick<NextMove, 'message' | 'steps'> => {
  const attempts = step.retry?.max_attempts ?? 1
  const isCalling =
    place.phase === 'call' && place.call_status !== null && !isTerminal(place.call_status)
  if (!isCalling)
    return {
      message: `Attempt ${Math.min(place.attempt + 1, attempts)} of ${attempts} at "${name}".`,
      steps: [name],
    }
  if (place.attempt >= attempts)
    return { message: `After its call it goes on to "${step.next}".`, steps: [step.next] }
  const answers = (step.retry?.on ?? []).join(', ')
  return {
    message: `After its call it goes on to "${step.next}"; after ${answers} it is tried again.`,
    steps: [step.next, name],
  }
}

const waysOfBranch = ({ cases, otherwise }: BranchStep): string[] => [
  ...new Set([...cases.map(({ next }) => next), otherwise]),
]

const quoted = (name: string): string => `"${name}"`

/** A pause and a queued call have no instant of their own. */
const atOf = ({
  phase,
  due_at: due,
  wake_at: wake,
  wait_reason: reason,
}: Omit<RunPlace, 'definition'>): { at?: Date } => {
  if (phase !== 'call' && due) return { at: due }
  return reason === 'calling_hours' && wake ? { at: wake } : {}
}
