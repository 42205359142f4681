/** A step as its file has it; the service checks it. */
export type Members = Readonly<Record<string, unknown>>

export interface DraftStep {
  /** Stays the same while the step is given another name. */
  readonly key: number
  readonly name: string
  readonly step: Members
}

/** An Automation while it is written: its steps in the order of the list. */
export interface Draft {
  readonly name: string
  readonly description: string
  readonly entry: string
  readonly steps: readonly DraftStep[]
}

export const stepKinds = ['call', 'wait', 'branch', 'end'] as const

export type StepKind = (typeof stepKinds)[number]

export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}

export const textOf = (members: Members, name: string): string => {
  const value = members[name]
  return typeof value === 'string' ? value : ''
}

export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The call that a new Automation begins with. */
export const emptyDraft = (agentId: string): Draft => ({
  name: '',
  description: '',
  entry: 'first_call',
  steps: [
    { key: 1, name: 'first_call', step: { type: 'call', agent_id: agentId, next: 'done' } },
    { key: 2, name: 'done', step: { type: 'end', result: 'completed' } },
  ],
})

interface AutomationText {
  readonly name: string
  readonly description?: string | undefined
}

/** Undefined for what is no definition at all: it has no object of steps. */
export const draftOf = (
  { name, description = '' }: AutomationText,
  definition: unknown,
): Draft | undefined => {
  const { steps } = membersOf(definition)
  if (typeof steps !== 'object' || steps === null || Array.isArray(steps)) return undefined
  const entry = textOf(membersOf(definition), 'entry')
  const all = Object.entries(steps).map(([each, step]) => ({ name: each, step: membersOf(step) }))
  const ordered = inOrderOfFlow(entry, all)
  return {
    name,
    description,
    entry,
    steps: ordered.map((each, at) => ({ ...each, key: at + 1 })),
  }
}

type NamedStep = Pick<DraftStep, 'name' | 'step'>

/** From the entry on, nearest first, then what nothing leads to: the service keeps no order. */
const inOrderOfFlow = (entry: string, all: readonly NamedStep[]): readonly NamedStep[] => {
  const byName = new Map(all.map((each) => [each.name, each]))
  const reached = new Set([entry])
  // A set that grows while it is read is read to its end.
  for (const name of reached) {
    const found = byName.get(name)
    if (found) for (const to of waysOf(found.step)) reached.add(to)
  }
  const first = [...reached].flatMap((name) => byName.get(name) ?? [])
  return [...first, ...all.filter(({ name }) => !reached.has(name))]
}

/** The names of the steps that may follow, each once. */
export const waysOf = (step: Members): readonly string[] => {
  const cases = listOf(step['cases']).map((each) => textOf(membersOf(each), 'next'))
  const ways = [...cases, textOf(step, 'next'), textOf(step, 'otherwise')]
  return [...new Set(ways.filter((name) => name !== ''))]
}

export const definitionOf = ({ entry, steps }: Draft): Members => ({
  entry,
  steps: Object.fromEntries(steps.map(({ name, step }) => [name, step])),
})

/** The file that the service takes. */
export const fileOf = (draft: Draft): Members => ({
  name: draft.name,
  ...(draft.description !== '' && { description: draft.description }),
  definition: definitionOf(draft),
})

const withWays = (step: Members, rename: (name: string) => string): Members => ({
  ...step,
  ...(typeof step['next'] === 'string' && { next: rename(step['next']) }),
  ...(typeof step['otherwise'] === 'string' && { otherwise: rename(step['otherwise']) }),
  ...(Array.isArray(step['cases']) && {
    cases: step['cases'].map((each: unknown) => {
      const next = membersOf(each)['next']
      return typeof next === 'string' ? { ...membersOf(each), next: rename(next) } : each
    }),
  }),
})

const redirect = (draft: Draft, from: string, to: string): Draft => {
  const rename = (name: string) => (name === from ? to : name)
  return {
    ...draft,
    entry: rename(draft.entry),
    steps: draft.steps.map((each) => ({ ...each, step: withWays(each.step, rename) })),
  }
}

export const withoutMember = (members: Members, name: string): Members => {
  const { [name]: _, ...others } = members
  return others
}

export const withStep = (draft: Draft, key: number, step: Members): Draft => ({
  ...draft,
  steps: draft.steps.map((each) => (each.key === key ? { ...each, step } : each)),
})

/** The step under another name, and all that lead to it. A name that another step has changes nothing. */
export const renameStep = (draft: Draft, key: number, name: string): Draft => {
  const renamed = draft.steps.find((each) => each.key === key)
  if (!renamed || draft.steps.some((each) => each.name === name)) return draft
  const { steps, ...rest } = redirect(draft, renamed.name, name)
  return { ...rest, steps: steps.map((each) => (each.key === key ? { ...each, name } : each)) }
}

/** A step of that kind, which keeps where the old one led. */
export const ofKind = (kind: StepKind, from: Members, agentId: string): Members => {
  const [next = ''] = waysOf(from)
  switch (kind) {
    case 'call':
      return { type: kind, agent_id: agentId, next }
    case 'wait':
      return { type: kind, for: 'PT1H', next }
    case 'branch':
      return {
        type: kind,
        cases: [{ when: { answer_status: ['answered'] }, next }],
        otherwise: next,
      }
    case 'end':
      return { type: kind, result: 'completed' }
  }
}

/** A new call after a step, by default after the last one that leads on; it leads to where that one led. */
export const addStep = (
  draft: Draft,
  agentId: string,
  afterKey?: number,
): { readonly draft: Draft; readonly key: number } => {
  const { steps } = draft
  const key = Math.max(0, ...steps.map((each) => each.key)) + 1
  const at =
    afterKey === undefined
      ? steps.findLastIndex(({ step }) => textOf(step, 'next') !== '')
      : steps.findIndex((each) => each.key === afterKey)
  const before = steps[at]
  const next = before ? textOf(before.step, 'next') : ''
  const name = freeName(steps)
  const added: DraftStep = { key, name, step: { type: 'call', agent_id: agentId, next } }
  const linked =
    before && next !== ''
      ? withStep(draft, before.key, { ...before.step, next: name })
      : { ...draft, entry: steps.length === 0 ? name : draft.entry }
  const place = before ? at + 1 : steps.length
  return { draft: { ...linked, steps: linked.steps.toSpliced(place, 0, added) }, key }
}

const freeName = (steps: readonly DraftStep[]): string => {
  const taken = new Set(steps.map(({ name }) => name))
  let number = steps.length + 1
  while (taken.has(`step_${number}`)) number += 1
  return `step_${number}`
}

/** What led to the step leads to where it led. */
export const removeStep = (draft: Draft, key: number): Draft => {
  const removed = draft.steps.find((each) => each.key === key)
  if (!removed) return draft
  const rest = { ...draft, steps: draft.steps.filter((each) => each.key !== key) }
  const next = textOf(removed.step, 'next')
  return next === '' || next === removed.name ? rest : redirect(rest, removed.name, next)
}

/**
 * The step one place up or down. Two neighbours of which the upper leads straight to the lower change places on the way
 * of a run too; others in the list only.
 */
export const moveStep = (draft: Draft, key: number, by: -1 | 1): Draft => {
  const at = draft.steps.findIndex((each) => each.key === key)
  const upperAt = Math.min(at, at + by)
  const [upper, lower] = [draft.steps[upperAt], draft.steps[upperAt + 1]]
  if (at < 0 || upperAt < 0 || !upper || !lower) return draft
  const relinked = leadsStraight(upper, lower) ? exchange(draft, upper, lower) : draft
  const [first, second] = [relinked.steps[upperAt], relinked.steps[upperAt + 1]]
  if (!first || !second) return draft
  return { ...relinked, steps: relinked.steps.toSpliced(upperAt, 2, second, first) }
}

const leadsStraight = (upper: DraftStep, lower: DraftStep): boolean =>
  textOf(upper.step, 'next') === lower.name && textOf(lower.step, 'next') !== ''

/** a → b → c becomes b → a → c. */
const exchange = (draft: Draft, upper: DraftStep, lower: DraftStep): Draft => {
  const after = textOf(lower.step, 'next')
  const led = redirect(draft, upper.name, lower.name)
  const one = withStep(led, upper.key, {
    ...upper.step,
    next: after === upper.name ? lower.name : after,
  })
  return withStep(one, lower.key, { ...lower.step, next: upper.name })
}

export interface Problem {
  readonly path: string
  readonly message: string
}

const stepPath = (name: string): string => `definition.steps.${name}`

/** The problems of one step, by the path within it; "" is the step itself. */
export const problemsOfStep = (
  problems: readonly Problem[],
  name: string,
): ReadonlyMap<string, string> =>
  new Map(
    problems.flatMap(({ path, message }) => {
      if (path === stepPath(name)) return [['', message] as const]
      const inner = `${stepPath(name)}.`
      return path.startsWith(inner) ? [[path.slice(inner.length), message] as const] : []
    }),
  )
