import type { Patience } from './turn-taking-settings.ts'
import type { WordsEnd } from './turn-words.ts'

interface TurnSoFar {
  /** How its words end; undefined while words are outstanding. */
  readonly end: WordsEnd | undefined
  /** The agent asked for something that is spoken in groups. */
  readonly isGroupsAsked: boolean
  readonly patience: Patience
}

/** Silence in milliseconds after words of each kind; `unknown`: they are outstanding. */
const silences: Readonly<Record<WordsEnd | 'unknown', number>> = {
  complete: 400,
  short: 400,
  open: 600,
  unfinished: 1_300,
  groups: 1_500,
  unknown: 800,
}
const factors: Readonly<Record<Patience, number>> = { short: 0.75, normal: 1, long: 1.6 }

/** How long the callee must be silent before the agent replies, in milliseconds. */
export const silenceThatEnds = ({ end, isGroupsAsked, patience }: TurnSoFar): number => {
  const isGroup = isGroupsAsked && end === undefined
  return silences[isGroup ? 'groups' : (end ?? 'unknown')] * factors[patience]
}
