import type { AutomationDefinition, BranchStep, Step, When } from './definition.ts'
import { waysOf } from './definition-outline.ts'

/** The definition as a Mermaid flowchart, made from the same data that runs. */
export const drawDefinition = (definition: AutomationDefinition): string => {
  const steps = inOrder(definition)
  // Mermaid has reserved words ("end"), so steps are named by numbers.
  const ids = new Map(steps.map(([name], at) => [name, `s${at + 1}`]))
  const id = (name: string): string => ids.get(name) ?? name
  return [
    'flowchart TD',
    `  start(( )) --> ${id(definition.entry)}`,
    ...steps.flatMap(([name, step]) => [
      `  ${id(name)}${shapeOf(name, step)}`,
      ...arrowsOf(step).map(
        ({ label, to }) => `  ${id(name)} -->${label === '' ? '' : `|"${label}"|`} ${id(to)}`,
      ),
    ]),
  ].join('\n')
}

/** From the entry, nearest first, because the members of a stored object have no order. */
const inOrder = ({ entry, steps }: AutomationDefinition): (readonly [string, Step])[] => {
  const names = new Set([entry])
  // A set that grows during iteration is read to its end.
  for (const name of names) for (const { to } of edgesOfName(steps, name)) names.add(to)
  return [...names].flatMap((name) => {
    const step = steps[name]
    return step ? [[name, step] as const] : []
  })
}

const edgesOfName = (steps: AutomationDefinition['steps'], name: string) => {
  const step = steps[name]
  return step ? waysOf(step) : []
}

const shapeOf = (name: string, step: Step): string => {
  switch (step.type) {
    case 'call':
      return `["${name}<br/>${step.retry ? `call, up to ${step.retry.max_attempts} attempts` : 'call'}"]`
    case 'wait':
      return `[/"${name}<br/>wait ${[step.for, step.until_local_time && `until ${step.until_local_time}`].filter(Boolean).join(', ')}"/]`
    case 'branch':
      return `{"${name}"}`
    case 'end':
      return `(["${name}<br/>${step.failure_code ?? step.result}"])`
  }
}

interface Arrow {
  readonly label: string
  readonly to: string
}

const arrowsOf = (step: Step): Arrow[] => {
  switch (step.type) {
    case 'call':
    case 'wait':
      return [{ label: '', to: step.next }]
    case 'branch':
      return branchArrows(step)
    case 'end':
      return []
  }
}

const branchArrows = ({ cases, otherwise }: BranchStep): Arrow[] => [
  ...cases.map(({ when, next }, at) => ({ label: `${at + 1}. ${describe(when)}`, to: next })),
  { label: 'otherwise', to: otherwise },
]

const describe = (when: When): string =>
  Object.entries<readonly string[] | undefined>(when)
    .map(([name, allowed]) => `${name}: ${(allowed ?? []).join(' or ')}`)
    .join(', ')
    // Quotes and brackets would end the label.
    .replaceAll(/["|\n]/g, ' ')
