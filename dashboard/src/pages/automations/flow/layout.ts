import { graphlib, layout } from '@dagrejs/dagre'
import type { FlowGraph } from './graph.ts'

interface Point {
  readonly x: number
  readonly y: number
}

interface PlacedWay {
  readonly path: string
  readonly arrow: string
  readonly label: Point
}

/** Places in pixels, by names of steps and ids of ways; places of steps are their upper left corners. */
export interface Layout {
  readonly steps: ReadonlyMap<string, Point>
  readonly begin: Point | undefined
  readonly ways: ReadonlyMap<string, PlacedWay>
}

export const stepWidth = 200
export const stepHeight = 68
export const beginSize = 16
const labelWidth = 140
const labelHeight = 20

/** Layers from the entry downwards. Every way is led around the steps that are between its ends. */
export const layoutOf = (graph: FlowGraph): Layout => {
  const drawing = new graphlib.Graph()
  drawing.setGraph({ rankdir: 'TB', nodesep: 40, ranksep: 36, edgesep: 24 })
  // Names of steps are whatever the file has: numbers are the nodes' names here.
  const nodeOf = new Map(graph.steps.map(({ name }, at) => [name, `step ${at}`]))
  const begins = graph.ways.some(({ from }) => from === undefined)
  if (begins) drawing.setNode('begin', { width: beginSize, height: beginSize })
  for (const node of nodeOf.values())
    drawing.setNode(node, { width: stepWidth, height: stepHeight })
  const endsOf = ({ from, to }: FlowGraph['ways'][number]): readonly [string, string] => [
    from === undefined ? 'begin' : (nodeOf.get(from) ?? ''),
    nodeOf.get(to) ?? '',
  ]
  for (const way of graph.ways) {
    const label = way.conditions.length === 0 ? {} : { width: labelWidth, height: labelHeight }
    drawing.setEdge(...endsOf(way), { ...label, labelpos: 'c' })
  }
  layout(drawing)
  return {
    steps: new Map(
      [...nodeOf].map(([name, node]) => [name, cornerOf(drawing.node(node) as unknown as Box)]),
    ),
    begin: begins ? cornerOf(drawing.node('begin') as unknown as Box) : undefined,
    ways: new Map(
      graph.ways.map((way) => {
        const [from, to] = endsOf(way)
        return [way.id, placed(drawing.edge({ v: from, w: to }) as unknown as Route)]
      }),
    ),
  }
}

interface Box extends Point {
  readonly width: number
  readonly height: number
}

interface Route extends Partial<Point> {
  readonly points: readonly Point[]
}

const cornerOf = ({ x, y, width, height }: Box): Point => ({ x: x - width / 2, y: y - height / 2 })

const placed = ({ points, x, y }: Route): PlacedWay => {
  const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 }
  return {
    path: smooth(points),
    arrow: arrowAt(points),
    label: { x: x ?? middle.x, y: y ?? middle.y },
  }
}

const between = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })

const text = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`

/** A curve with the points as its corners, rounded from the middle of one line to that of the next. */
const smooth = (points: readonly Point[]): string => {
  const [first, ...others] = points
  const last = others.at(-1)
  if (!first || !last) return ''
  const bends = others.slice(0, -1).map((corner, at) => {
    const next = others[at + 1] ?? last
    return `Q ${text(corner)} ${text(between(corner, next))}`
  })
  return [`M ${text(first)}`, ...bends, `L ${text(last)}`].join(' ')
}

const arrowLength = 9
const arrowHalfWidth = 4.5

const arrowAt = (points: readonly Point[]): string => {
  const [before, tip] = points.slice(-2)
  if (!before || !tip) return ''
  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1
  const along = { x: (tip.x - before.x) / length, y: (tip.y - before.y) / length }
  const foot = { x: tip.x - along.x * arrowLength, y: tip.y - along.y * arrowLength }
  const aside = { x: -along.y * arrowHalfWidth, y: along.x * arrowHalfWidth }
  const left = { x: foot.x + aside.x, y: foot.y + aside.y }
  const right = { x: foot.x - aside.x, y: foot.y - aside.y }
  return `M ${text(tip)} L ${text(left)} L ${text(right)} Z`
}
