import { durationParts } from '../duration.ts'
import { listOf, membersOf, textOf, textsOf, waysOf, type Draft, type Members } from '../draft.ts'

/** A step as it is drawn. */
export interface FlowStep {
  readonly name: string
  readonly kind: string
  /** What it does, in a few words. */
  readonly detail: string
  /** A step leads to it, but the definition has none of that name. */
  readonly isMissing: boolean
}

/** One way from a step to another; several cases that lead to the same step are one way. */
export interface FlowWay {
  readonly id: string
  /** Undefined: where a run begins. */
  readonly from: string | undefined
  readonly to: string
  /** When a run goes this way; none: always. */
  readonly conditions: readonly string[]
}

export interface FlowGraph {
  readonly steps: readonly FlowStep[]
  readonly ways: readonly FlowWay[]
}

type Drawn = Pick<Draft, 'entry' | 'steps'>

/** The steps of a definition and the ways between them, in the order of the list. `agents` are names by ids. */
export const graphOf = (
  { entry, steps }: Drawn,
  agents: ReadonlyMap<string, string> = new Map(),
): FlowGraph => {
  const names = new Set(steps.map(({ name }) => name))
  const begin = entry === '' ? [] : [wayOf(undefined, entry, [])]
  const ways = [
    ...begin,
    ...steps.flatMap(({ name, step }) =>
      waysOf(step).map((to) => wayOf(name, to, conditionsOf(step, to))),
    ),
  ]
  const missing = [...new Set(ways.map(({ to }) => to))].filter((name) => !names.has(name))
  return {
    steps: [
      ...steps.map(({ name, step }) => ({
        name,
        kind: textOf(step, 'type') || 'unknown',
        detail: detailOf(step, agents),
        isMissing: false,
      })),
      ...missing.map((name) => ({
        name,
        kind: 'missing',
        detail: 'no such step',
        isMissing: true,
      })),
    ],
    ways,
  }
}

/** The id of the way between two steps. */
export const wayId = (from: string | undefined, to: string): string =>
  JSON.stringify([from ?? null, to])

const wayOf = (from: string | undefined, to: string, conditions: readonly string[]): FlowWay => ({
  id: wayId(from, to),
  from,
  to,
  conditions,
})

const conditionsOf = (step: Members, to: string): readonly string[] => [
  ...listOf(step['cases']).flatMap((each, at) => {
    const { when, next } = membersOf(each)
    return next === to ? [`${at + 1}. ${describeWhen(membersOf(when))}`] : []
  }),
  ...(step['otherwise'] === to ? ['otherwise'] : []),
]

const describeWhen = (when: Members): string =>
  Object.entries(when)
    .map(([subject, allowed]) => {
      const values = textsOf(allowed).join(' or ').replaceAll('_', ' ')
      return subject === 'answer_status' || subject === 'outcome' ? values : `${subject}: ${values}`
    })
    .join(', ') || 'always'

const detailOf = (step: Members, agents: ReadonlyMap<string, string>): string => {
  switch (textOf(step, 'type')) {
    case 'call': {
      const attempts = membersOf(step['retry'])['max_attempts']
      const agent = agents.get(textOf(step, 'agent_id'))
      const most = typeof attempts === 'number' ? `up to ${attempts} attempts` : undefined
      return [agent, most].filter(Boolean).join(', ')
    }
    case 'wait': {
      const until = textOf(step, 'until_local_time')
      return [lengthOf(textOf(step, 'for')), until && `until ${until}`].filter(Boolean).join(', ')
    }
    case 'branch': {
      const cases = listOf(step['cases']).length
      return `${cases} ${cases === 1 ? 'case' : 'cases'}`
    }
    case 'end':
      return (textOf(step, 'failure_code') || textOf(step, 'result')).replaceAll('_', ' ')
    default:
      return ''
  }
}

const lengthOf = (duration: string): string => {
  const { amount, unit } = durationParts(duration)
  if (unit === 'ISO 8601') return amount
  return `${amount} ${amount === '1' ? unit.slice(0, -1) : unit}`
}
