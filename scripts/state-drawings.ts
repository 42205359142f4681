import { phases } from '../src/conversation/loop/phases.ts'
import { automationTransitions } from '../src/domains/automations/automation-states.ts'
import { runTransitions } from '../src/domains/automations/run-states.ts'
import { batchTransitions } from '../src/domains/batches/batch-states.ts'
import { callTransitions } from '../src/domains/calls/lifecycle/call-states.ts'
import { resultTransitions } from '../src/domains/results/result-states.ts'

type Transitions = Readonly<Record<string, readonly string[]>>

const drawing = (
  title: string,
  words: string,
  transitions: Transitions,
  starts: readonly string[],
): string =>
  [
    `## ${title}`,
    words,
    '',
    '```mermaid',
    'stateDiagram-v2',
    ...starts.map((start) => `  [*] --> ${start}`),
    ...Object.entries(transitions).flatMap(([from, following]) =>
      following.length === 0 ? [`  ${from} --> [*]`] : following.map((to) => `  ${from} --> ${to}`),
    ),
    '```',
    '',
  ].join('\n')

const phaseTransitions: Transitions = Object.fromEntries(
  Object.entries(phases).map(([name, { next }]) => [name, next]),
)

/** docs/states.md: every state machine, drawn from the table its code runs on. */
export const statesDocument = (): string =>
  [
    '# States',
    '',
    'Each drawing is made from the table the program runs on (`npm run docs`) and compared in its tests. What leads from one state to the next is in [decisions.md](decisions.md).',
    '',
    drawing(
      'Call',
      'A recipient of a batch is `pending` until the batch starts, and no client sees it. The way back from `dialing` is carrier congestion before anything rang, or an INVITE that provably never left. Each arrow is a statement in `src/domains/calls/lifecycle/`; its README says which. `src/domains/calls/lifecycle/call-states.ts`',
      callTransitions,
      ['queued', 'pending'],
    ),
    drawing(
      'Phases of a call in progress',
      'What may be heard, said, interrupted and prompted in each stands in the table. `src/conversation/loop/phases.ts`',
      phaseTransitions,
      ['greeting'],
    ),
    drawing(
      'Batch',
      'A pause keeps live calls; `start` resumes. `src/domains/batches/batch-states.ts`',
      batchTransitions,
      ['draft'],
    ),
    drawing(
      'Automation run',
      '`running` while a step is executed or its call is queued or live, `waiting` for a timer. `src/domains/automations/run-states.ts`',
      runTransitions,
      ['queued'],
    ),
    drawing(
      'Automation',
      'A run needs an active one. `src/domains/automations/automation-states.ts`',
      automationTransitions,
      ['draft'],
    ),
    drawing(
      'Summary and transcript',
      'Each is ready by itself. `src/domains/results/result-states.ts`',
      resultTransitions,
      ['processing'],
    ),
  ].join('\n')
