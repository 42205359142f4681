/** One exit of a step. */
interface Way {
  readonly to: string
  /** Its path within the step: `next`, `cases[0].next`, `otherwise`. */
  readonly path: string
}

interface OutlinedStep {
  /** A run can pass it only by waiting. */
  readonly isWait: boolean
  readonly ways: readonly Way[]
  /** Agent of a call. */
  readonly agentId?: string
}

/** The graph of a definition's steps. */
export interface Outline {
  readonly entry: string | undefined
  readonly steps: ReadonlyMap<string, OutlinedStep>
}

/**
 * The outline of a definition, as far as it can be read: even in a file with other errors, problems of its graph
 * and its agents are reported at once.
 */
export const outlineOf = (definition: unknown): Outline => {
  const { entry, steps } = membersOf(definition)
  const outlined = Object.entries(membersOf(steps)).map(
    ([name, step]) => [name, outlineStep(membersOf(step))] as const,
  )
  return { entry: typeof entry === 'string' ? entry : undefined, steps: new Map(outlined) }
}

const outlineStep = (step: Members): OutlinedStep => ({
  isWait: step['type'] === 'wait',
  ways: waysOf(step),
  ...(step['type'] === 'call' &&
    typeof step['agent_id'] === 'string' && { agentId: step['agent_id'] }),
})

/** The possible next steps, in order. */
export const waysOf = (step: Members): readonly Way[] => {
  switch (step['type']) {
    case 'call':
    case 'wait':
      return way(step['next'], 'next')
    case 'branch':
      return [...waysOfCases(step['cases']), ...way(step['otherwise'], 'otherwise')]
    default:
      return []
  }
}

const waysOfCases = (cases: unknown): Way[] =>
  Array.isArray(cases)
    ? cases.flatMap((each: unknown, at) => way(membersOf(each)['next'], `cases[${at}].next`))
    : []

const way = (to: unknown, path: string): Way[] => (typeof to === 'string' ? [{ to, path }] : [])

type Members = Readonly<Record<string, unknown>>

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
