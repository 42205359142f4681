import '@xyflow/react/dist/base.css'
import './flow.css'
import { Button, Group } from '@mantine/core'
import {
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  type Edge,
  type Node,
} from '@xyflow/react'
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import type { FlowGraph, FlowStep } from './graph.ts'
import { beginSize, layoutOf, stepHeight, stepWidth, type Layout } from './layout.ts'
import type { StepMark, StepMarks } from './marks.ts'
import { BeginNode, StepNode, Way, type StepNodeData, type WayData } from './parts.tsx'

export interface FlowProps {
  readonly label: string
  readonly graph: FlowGraph
  readonly marks: StepMarks
  /** Ids of the ways that a replayed run went. */
  readonly litWays?: ReadonlySet<string> | undefined
  readonly selected: string | undefined
  readonly onSelect: (name: string) => void
}

const nodeTypes = { step: StepNode, begin: BeginNode }
const edgeTypes = { way: Way }
const smallestZoom = 0.2
const fit = { padding: 0.06, maxZoom: 1, minZoom: 0.5 } as const
const noMark: StepMark = {}

/** The steps as a drawing: one stop of the Tab key, within which arrow keys go from step to step. */
export const Flow = (properties: FlowProps) => (
  <ReactFlowProvider>
    <Drawing {...properties} />
  </ReactFlowProvider>
)

const Drawing = ({ label, graph, marks, litWays, selected, onSelect }: FlowProps) => {
  const shape = JSON.stringify(graph)
  // Typing in a field of a step changes the draft, and mostly nothing that is drawn.
  const layout = useMemo(() => layoutOf(JSON.parse(shape) as FlowGraph), [shape])
  const place = useRef<HTMLDivElement>(null)
  const [stop, setStop] = useState<string>()
  const names = graph.steps.map(({ name }) => name)
  const tabStop = [stop, selected, names[0]].find(
    (name) => name !== undefined && names.includes(name),
  )
  const go = (event: KeyboardEvent, name: string): void => {
    const to = targetOf(event.key, names, name)
    if (to === undefined) return
    event.preventDefault()
    setStop(to)
    place.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(to)}"]`)?.focus()
  }
  const nodes: Node[] = [
    ...beginOf(layout),
    ...graph.steps.map((step) =>
      nodeOf(step, layout, {
        step,
        mark: marks.get(step.name) ?? noMark,
        leadsTo: graph.ways.filter(({ from }) => from === step.name),
        isSelected: step.name === selected,
        isTabStop: step.name === tabStop,
        onSelect: () => {
          setStop(step.name)
          onSelect(step.name)
        },
        onKeyDown: (event) => go(event, step.name),
      }),
    ),
  ]
  return (
    <div className="flow" ref={place} role="group" aria-label={label}>
      <Zoom />
      <div className="flow-canvas">
        <ReactFlow
          nodes={nodes}
          edges={edgesOf(graph, layout, litWays)}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          // The wheel scrolls the page; two fingers, or the wheel with Ctrl, zoom.
          zoomOnScroll={false}
          preventScrolling={false}
          zoomOnDoubleClick={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          selectionKeyCode={null}
          multiSelectionKeyCode={null}
          minZoom={smallestZoom}
          maxZoom={1.5}
          fitView
          fitViewOptions={fit}
          role="presentation"
          // The licence (MIT) asks for no mark in the drawing; NOTICE names the library.
          proOptions={{ hideAttribution: true }}
        >
          <Follow name={selected ?? hereOf(marks)} layout={layout} />
        </ReactFlow>
      </div>
    </div>
  )
}

const targetOf = (key: string, names: readonly string[], from: string): string | undefined => {
  const at = names.indexOf(from)
  switch (key) {
    case 'ArrowDown':
    case 'ArrowRight':
      return names[at + 1]
    case 'ArrowUp':
    case 'ArrowLeft':
      return names[at - 1]
    case 'Home':
      return names[0]
    case 'End':
      return names.at(-1)
    default:
      return undefined
  }
}

const hereOf = (marks: StepMarks): string | undefined =>
  [...marks].find(([, { place }]) => place === 'here')?.[0]

/** Steps are known by their names to React; a name is any text. */
const nodeId = (name: string): string => `step ${name}`

const nodeOf = (step: FlowStep, layout: Layout, data: StepNodeData): Node<StepNodeData> => ({
  id: nodeId(step.name),
  type: 'step',
  position: { ...(layout.steps.get(step.name) ?? { x: 0, y: 0 }) },
  width: stepWidth,
  height: stepHeight,
  data,
  domAttributes: { 'aria-roledescription': undefined },
})

const beginId = 'begin'

const beginOf = ({ begin }: Layout): Node[] =>
  begin
    ? [
        {
          id: beginId,
          type: 'begin',
          position: { ...begin },
          width: beginSize,
          height: beginSize,
          data: {},
          domAttributes: { 'aria-roledescription': undefined },
        },
      ]
    : []

const edgesOf = (
  graph: FlowGraph,
  layout: Layout,
  litWays: ReadonlySet<string> | undefined,
): Edge<WayData>[] =>
  graph.ways.flatMap((way) => {
    const placed = layout.ways.get(way.id)
    if (!placed) return []
    const when = way.conditions.length === 0 ? '' : `: ${way.conditions.join('; ')}`
    return {
      id: way.id,
      type: 'way',
      source: way.from === undefined ? beginId : nodeId(way.from),
      target: nodeId(way.to),
      ariaLabel: `${way.from ?? 'Begin'} to ${way.to}${when}`,
      domAttributes: { 'aria-roledescription': undefined },
      data: { placed, conditions: way.conditions, isLit: litWays?.has(way.id) ?? false },
    }
  })

/** Brings a step that is chosen elsewhere, or where a run is, into the view. */
const Follow = ({ name, layout }: { name: string | undefined; layout: Layout }) => {
  const { setCenter, getZoom, flowToScreenPosition } = useReactFlow()
  const frame = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const corner = name === undefined ? undefined : layout.steps.get(name)
    const canvas = frame.current?.closest('.flow-canvas')?.getBoundingClientRect()
    if (!corner || !canvas) return
    const start = flowToScreenPosition({ ...corner })
    const end = flowToScreenPosition({ x: corner.x + stepWidth, y: corner.y + stepHeight })
    const isSeen =
      start.x >= canvas.left &&
      start.y >= canvas.top &&
      end.x <= canvas.right &&
      end.y <= canvas.bottom
    const center = { x: corner.x + stepWidth / 2, y: corner.y + stepHeight / 2 }
    if (!isSeen) void setCenter(center.x, center.y, { zoom: getZoom() })
  }, [name, layout, setCenter, getZoom, flowToScreenPosition])
  return <span ref={frame} hidden />
}

const Zoom = () => {
  const { zoomIn, zoomOut, fitView } = useReactFlow()
  const width = useStore((store) => store.width)
  // A window that is made narrower would leave the steps beside the drawing.
  useEffect(() => {
    void fitView(fit)
  }, [width, fitView])
  return (
    <Group gap={4} justify="flex-end">
      <Button size="compact-xs" variant="default" onClick={() => void zoomIn()}>
        Zoom in
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => void zoomOut()}>
        Zoom out
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => void fitView({ ...fit, minZoom: smallestZoom })}
      >
        Show all
      </Button>
    </Group>
  )
}
