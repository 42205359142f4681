import { fileProblems, InvalidFileError, type FileProblem } from '../organizations/invalid-file.ts'
import { outlineOf, type Outline } from './definition-outline.ts'
import {
  automationFileSchema,
  isDefinitionTooLarge,
  stepNameSentence,
  tooLarge,
  type AutomationFile,
} from './definition.ts'

/** Checks an Automation file without a database; throws `InvalidFileError` with a path and a sentence for each problem. */
export const checkAutomationFile = (file: unknown): AutomationFile =>
  acceptAutomationFile(file, automationFileProblems(file))

/** The checked file; throws `InvalidFileError` if there is a problem. */
export const acceptAutomationFile = (
  file: unknown,
  problems: readonly FileProblem[],
): AutomationFile => {
  if (problems.length > 0) throw new InvalidFileError(problems)
  return automationFileSchema.parse(file)
}

/** Every problem of a file that can be found without a database. */
export const automationFileProblems = (file: unknown): FileProblem[] => {
  const definition = definitionOf(file)
  // A file that is far too large is not inspected, because it could have any number of problems.
  if (isDefinitionTooLarge(definition)) return [{ path: 'definition', message: tooLarge }]
  const outline = outlineOf(definition)
  const shape = [...fileProblems(automationFileSchema, file), ...hiddenNames(outline)]
  // A malformed step leads nowhere either, which need not be reported.
  const isNew = ({ path }: FileProblem): boolean => shape.every((each) => each.path !== path)
  return [...shape, ...definitionProblems(outline).filter(isNew)]
}

export const definitionOf = (file: unknown): unknown =>
  typeof file === 'object' && file !== null && 'definition' in file ? file.definition : undefined

/** A record silently drops `__proto__`. */
const hiddenNames = ({ steps }: Outline): FileProblem[] =>
  steps.has('__proto__') ? [{ path: pathOf('__proto__'), message: stepNameSentence }] : []

/** Errors in the graph (D6): missing steps, unreachable ones, loops without a wait. */
export const definitionProblems = (outline: Outline): FileProblem[] => [
  ...missingSteps(outline),
  ...unreachableSteps(outline),
  ...tightLoops(outline),
]

const missingSteps = ({ entry, steps }: Outline): FileProblem[] => {
  const noStep = (path: string, name: string): FileProblem[] =>
    steps.has(name) ? [] : [{ path, message: `There is no step "${name}".` }]
  if (steps.size === 0) return []
  return [
    ...(entry === undefined ? [] : noStep('definition.entry', entry)),
    ...[...steps].flatMap(([name, { ways }]) =>
      ways.flatMap(({ to, path }) => noStep(`${pathOf(name)}.${path}`, to)),
    ),
  ]
}

const pathOf = (name: string): string => `definition.steps.${name}`

/** Without an entry nothing is reachable, so reporting that adds nothing. */
const unreachableSteps = ({ entry, steps }: Outline): FileProblem[] => {
  if (entry === undefined || !steps.has(entry)) return []
  const reached = new Set([entry])
  for (const name of reached) for (const { to } of steps.get(name)?.ways ?? []) reached.add(to)
  return [...steps.keys()]
    .filter((name) => !reached.has(name))
    .map((name) => ({ path: pathOf(name), message: `No way leads to this step from "${entry}".` }))
}

/** Searches loops among the steps that are not waits; each is reported once, at the step where it closes. */
const tightLoops = ({ steps }: Outline): FileProblem[] => {
  const finished = new Set<string>()
  const path: string[] = []
  const problems: FileProblem[] = []
  const visit = (name: string): void => {
    const step = steps.get(name)
    if (!step || step.isWait || finished.has(name)) return
    const start = path.indexOf(name)
    if (start >= 0) {
      const loop = [...path.slice(start), name].map((each) => `"${each}"`).join(' → ')
      problems.push({ path: pathOf(name), message: `This loop has no wait: ${loop}.` })
      return
    }
    path.push(name)
    for (const to of new Set(step.ways.map((way) => way.to))) visit(to)
    path.pop()
    finished.add(name)
  }
  for (const name of steps.keys()) visit(name)
  return problems
}
