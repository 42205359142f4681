import type { AnswerStatus } from '../../../contract/states.ts'
import type { TerminalStatus } from '../../calls/lifecycle/call-states.ts'

/** How one simulated call ends. */
export interface SimulatedAnswer {
  readonly status: TerminalStatus
  readonly answerStatus: AnswerStatus
  readonly outcome: string | null
  /** From the INVITE to the end. */
  readonly lastsMs: number
}

/** As in a typical call: 45 s of ringing, a minute of talk or half a minute of voicemail. */
const kinds: Readonly<Record<string, SimulatedAnswer>> = {
  answered: answer('completed', 'answered', null, 70_000),
  no_answer: answer('completed', 'no_answer', 'not_reached', 45_000),
  busy: answer('completed', 'busy', 'not_reached', 3_000),
  voicemail: answer('completed', 'voicemail', 'voicemail_skipped', 35_000),
  failed: answer('failed', 'unknown', 'not_reached', 1_000),
  cancelled: answer('cancelled', 'unknown', null, 1_000),
}

function answer(
  status: TerminalStatus,
  answerStatus: AnswerStatus,
  outcome: string | null,
  lastsMs: number,
): SimulatedAnswer {
  return { status, answerStatus, outcome, lastsMs }
}

/** The words that `parseAnswer` knows. */
export const answerWords: readonly string[] = Object.keys(kinds)

/** Parses `no_answer`, `answered:callback_requested`, `voicemail:voicemail_left`; undefined for other text. */
export const parseAnswer = (text: string): SimulatedAnswer | undefined => {
  const [word = '', outcome, ...more] = text.split(':')
  const known = Object.hasOwn(kinds, word) ? kinds[word] : undefined
  if (!known || more.length > 0) return undefined
  if (outcome === undefined) return known
  return /^[a-z][a-z0-9_]{0,63}$/.test(outcome) ? { ...known, outcome } : undefined
}
