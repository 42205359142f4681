/** One way on from a step. */
export interface Way {
  readonly to: string
  /** Within the step: `next`, `cases[0].next`, `otherwise`. */
  readonly path: string
}

export interface OutlinedStep {
  /** A run may pass it only by waiting. */
  readonly isWait: boolean
  readonly ways: readonly Way[]
  /** Of a call. */
  readonly agentId?: string
}

/** How the steps of a definition hang together. */
export interface Outline {
  readonly entry: string | undefined
  readonly steps: ReadonlyMap<string, OutlinedStep>
}

/**
 * The outline of a definition, as far as it can be read: whatever else is wrong with a file, it is told at once what is
 * wrong with its ways and its agents too.
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

/** Where a step may lead, in order. */
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
