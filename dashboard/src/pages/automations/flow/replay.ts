import type { AnswerOf } from '../../../client/table.ts'
import { wayId } from './graph.ts'
import type { StepMark, StepMarks } from './marks.ts'

type Move = AnswerOf<'getRun'>['moves'][number]

/** A run as it was after one of its moves. */
export interface Moment {
  readonly move: Move
  readonly marks: StepMarks
  /** Ids of the ways that it went. */
  readonly ways: ReadonlySet<string>
}

/** Oldest first; `moves` are newest first, and may lack the oldest ones. */
export const inOrder = (moves: readonly Move[]): readonly Move[] => moves.toReversed()

/** The run after the move at `index` of the ordered moves. */
export const momentOf = (moves: readonly Move[], index: number): Moment | undefined => {
  const move = moves[index]
  if (!move) return undefined
  const marks = new Map<string, StepMark>()
  const ways = new Set<string>()
  let at: string | undefined
  for (const each of moves.slice(0, index + 1)) {
    if (each.step === undefined) continue
    if (each.move === 'start') ways.add(wayId(undefined, each.step))
    // A step may lead to itself: only this kind of move leaves one.
    if (each.move === 'move' && at !== undefined) ways.add(wayId(at, each.step))
    at = each.step
    marks.set(at, { place: 'passed' })
  }
  if (at !== undefined) marks.set(at, { place: 'here' })
  return { move, marks, ways }
}
