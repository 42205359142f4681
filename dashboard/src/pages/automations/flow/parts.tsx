import { VisuallyHidden } from '@mantine/core'
import {
  EdgeLabelRenderer,
  Handle,
  Position,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from '@xyflow/react'
import type { KeyboardEvent } from 'react'
import type { FlowStep, FlowWay } from './graph.ts'
import type { Layout } from './layout.ts'
import type { StepMark } from './marks.ts'

export interface StepNodeData extends Record<string, unknown> {
  readonly step: FlowStep
  readonly mark: StepMark
  readonly leadsTo: readonly FlowWay[]
  readonly isSelected: boolean
  readonly isTabStop: boolean
  readonly onSelect: () => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

export interface WayData extends Record<string, unknown> {
  readonly placed: Layout['ways'] extends ReadonlyMap<string, infer Placed> ? Placed : never
  readonly conditions: readonly string[]
  readonly isLit: boolean
}

export const StepNode = ({ data }: NodeProps<Node<StepNodeData>>) => {
  const { step, mark, isSelected, isTabStop, onSelect, onKeyDown } = data
  const problems = mark.problems?.length ?? 0
  return (
    <>
      <Ends />
      <button
        type="button"
        className="flow-step nopan"
        data-step={step.name}
        data-kind={step.kind}
        data-place={mark.place}
        data-problem={problems > 0 || step.isMissing || undefined}
        aria-pressed={isSelected}
        tabIndex={isTabStop ? 0 : -1}
        disabled={step.isMissing}
        onClick={onSelect}
        onKeyDown={onKeyDown}
      >
        <VisuallyHidden>{describeStep(data)}</VisuallyHidden>
        <span className="flow-face" aria-hidden>
          <span className="flow-kind">
            {step.kind}
            {mark.place === 'here' && ' · here'}
          </span>
          <span className="flow-name">{step.name}</span>
          <span className="flow-detail">{step.detail}</span>
          {mark.runs !== undefined && mark.runs > 0 && (
            <span className="flow-runs">{countOf(mark.runs, 'run')}</span>
          )}
          {problems > 0 && <span className="flow-problems">{countOf(problems, 'problem')}</span>}
        </span>
      </button>
    </>
  )
}

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** What the drawing shows of the step and its ways, in words. */
export const describeStep = ({
  step,
  mark,
  leadsTo,
}: Pick<StepNodeData, 'step' | 'mark' | 'leadsTo'>): string =>
  [
    `${step.name}, ${step.kind}`,
    step.detail,
    mark.place === 'here' ? 'the run is here' : mark.place && 'the run was here',
    mark.runs ? `${countOf(mark.runs, 'run')} here now` : '',
    mark.problems?.length ? countOf(mark.problems.length, 'problem') : '',
    ...leadsTo.map(
      ({ to, conditions }) =>
        `leads to ${to}${conditions.length === 0 ? '' : ` if ${conditions.join('; ')}`}`,
    ),
  ]
    .filter(Boolean)
    .join(', ')

export const BeginNode = () => (
  <>
    <Ends />
    <div className="flow-begin" title="A run begins here." />
  </>
)

/** Ways are drawn only between handles. */
const Ends = () => (
  <>
    <Handle type="target" position={Position.Top} isConnectable={false} />
    <Handle type="source" position={Position.Bottom} isConnectable={false} />
  </>
)

export const Way = ({ data }: EdgeProps<Edge<WayData>>) => {
  if (!data) return null
  const { placed, conditions, isLit } = data
  const text = conditions.join('; ')
  return (
    <>
      <path className="flow-way" data-lit={isLit || undefined} d={placed.path} />
      <path className="flow-arrow" data-lit={isLit || undefined} d={placed.arrow} />
      {text !== '' && (
        <EdgeLabelRenderer>
          <div
            className="flow-condition"
            // Said of the way itself.
            aria-hidden
            title={text}
            style={{
              transform: `translate(-50%, -50%) translate(${placed.label.x}px, ${placed.label.y}px)`,
            }}
          >
            {text}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  )
}
