import { checkFile, InvalidFileError, type FileProblem } from '../organizations/invalid-file.ts'
import {
  automationFileSchema,
  type AutomationDefinition,
  type AutomationFile,
  type Step,
} from './definition.ts'

/** Checks an Automation file without a database; throws `InvalidFileError` with a path and a sentence for each problem. */
export const checkAutomationFile = (file: unknown): AutomationFile => {
  const checked = checkFile(automationFileSchema, file)
  const problems = definitionProblems(checked.definition)
  if (problems.length > 0) throw new InvalidFileError(problems)
  return checked
}

/** One way on from a step. */
export interface Edge {
  readonly to: string
  /** Within the step: `next`, `cases[0].next`, `otherwise`. */
  readonly path: string
}

/** Where a step may lead, in order. */
export const edgesOf = (step: Step): readonly Edge[] => {
  switch (step.type) {
    case 'call':
    case 'wait':
      return [{ to: step.next, path: 'next' }]
    case 'branch':
      return [
        ...step.cases.map(({ next }, at) => ({ to: next, path: `cases[${at}].next` })),
        { to: step.otherwise, path: 'otherwise' },
      ]
    case 'end':
      return []
  }
}

/** What keeps the steps from fitting together (D6): missing steps, unreachable ones, loops without a wait. */
export const definitionProblems = (definition: AutomationDefinition): FileProblem[] => {
  const missing = missingSteps(definition)
  return [
    ...missing,
    ...(missing.length === 0 ? [...unreachableSteps(definition), ...tightLoops(definition)] : []),
  ]
}

const missingSteps = ({ entry, steps }: AutomationDefinition): FileProblem[] => {
  const noStep = (path: string, name: string): FileProblem[] =>
    Object.hasOwn(steps, name) ? [] : [{ path, message: `There is no step "${name}".` }]
  return [
    ...noStep('definition.entry', entry),
    ...Object.entries(steps).flatMap(([name, step]) =>
      edgesOf(step).flatMap(({ to, path }) => noStep(`${pathOf(name)}.${path}`, to)),
    ),
  ]
}

const pathOf = (name: string): string => `definition.steps.${name}`

const targets = ({ steps }: AutomationDefinition, name: string): string[] => {
  const step = steps[name]
  return step ? edgesOf(step).map(({ to }) => to) : []
}

const unreachableSteps = (definition: AutomationDefinition): FileProblem[] => {
  const reached = new Set<string>([definition.entry])
  for (const name of reached) for (const to of targets(definition, name)) reached.add(to)
  return Object.keys(definition.steps)
    .filter((name) => !reached.has(name))
    .map((name) => ({
      path: pathOf(name),
      message: `No way leads to this step from "${definition.entry}".`,
    }))
}

/** Loops are looked for among the steps that are no waits; each is told once, at the step it comes back to. */
const tightLoops = (definition: AutomationDefinition): FileProblem[] => {
  const finished = new Set<string>()
  const path: string[] = []
  const problems: FileProblem[] = []
  const visit = (name: string): void => {
    if (definition.steps[name]?.type === 'wait' || finished.has(name)) return
    const start = path.indexOf(name)
    if (start >= 0) {
      const loop = [...path.slice(start), name].map((step) => `"${step}"`).join(' → ')
      problems.push({ path: pathOf(name), message: `This loop has no wait: ${loop}.` })
      return
    }
    path.push(name)
    for (const to of new Set(targets(definition, name))) visit(to)
    path.pop()
    finished.add(name)
  }
  for (const name of Object.keys(definition.steps)) visit(name)
  return problems
}
