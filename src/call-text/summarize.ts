import type { HangUpReason } from './hang-up-reason.ts'
import { unrecognisedText } from './unrecognised-text.ts'

/** The facts of a conversation: its displayed turns, in order. */
export interface SummaryInput {
  readonly turns: readonly SummaryTurn[]
  readonly optedOut: boolean
  readonly voicemail: 'none' | 'message_left' | 'skipped'
  /** Why our side ended the call; absent if it did not, or if the reason is unknown. */
  readonly hangUpReason?: HangUpReason
  /** The outcome that the agent reported. */
  readonly reportedOutcome?: string
  /** Outcomes that the agent may report in addition to the usual ones: its configured slugs. */
  readonly configuredOutcomes: readonly string[]
  /** The same with their meanings, for a model to choose from. */
  readonly outcomeChoices?: readonly OutcomeChoice[]
}

export interface OutcomeChoice {
  readonly slug: string
  readonly description: string
}

export interface SummaryTurn {
  readonly speaker: 'agent' | 'contact' | 'third_party'
  readonly text: string
}

export interface Summary {
  /** At most 600 characters. */
  readonly summary: string
  /** One of the outcomes of decision D3, or a configured slug. */
  readonly outcome: string
  /** One sentence of at most 500 characters. */
  readonly outcomeReason: string
  /** What the model used for it. */
  readonly usage?: SummaryUsage
}

export interface SummaryUsage {
  /** Host of the server. */
  readonly provider: string
  readonly model: string | undefined
  readonly inputTokens: number
  readonly outputTokens: number
}

export const maxSummaryLength = 600
export const maxReasonLength = 500
const maxQuoteLength = 140
const quotedContactTurns = 2

/**
 * A summary by rules, without a model: the same words for the same call, and nothing that was not spoken. Facts of
 * the call (an opt-out, a voicemail, silence) override the agent's report, which overrides the cues in the callee's
 * words.
 */
export const summarize = (input: SummaryInput): Summary => {
  const { outcome, reason } = judge(input)
  return {
    summary: shorten(sentences(input).join(' '), maxSummaryLength),
    outcome,
    outcomeReason: shorten(reason, maxReasonLength),
  }
}

/**
 * The outcome that is certain without reading the words: facts of the call, the agent's report, silence on the
 * line. A model must not change it.
 */
export const certainOutcome = (input: SummaryInput): string | undefined => {
  const { reportedOutcome } = input
  const isCertain =
    input.optedOut ||
    input.voicemail !== 'none' ||
    contactTexts(input).length === 0 ||
    (reportedOutcome !== undefined &&
      [...reportable, ...input.configuredOutcomes].includes(reportedOutcome))
  return isCertain ? judge(input).outcome : undefined
}

interface Judgement {
  readonly outcome: string
  readonly reason: string
}

const reportable = [
  'achieved',
  'not_achieved',
  'callback_requested',
  'wrong_number',
  'transferred',
  'inconclusive',
]

const judge = (input: SummaryInput): Judgement => {
  const words = contactTexts(input)
  if (input.optedOut) {
    return { outcome: 'opted_out', reason: 'The contact asked not to be called again.' }
  }
  if (input.voicemail === 'message_left') {
    return { outcome: 'voicemail_left', reason: 'A voicemail answered and the message was left.' }
  }
  if (input.voicemail === 'skipped') {
    return { outcome: 'voicemail_skipped', reason: 'A voicemail answered; no message was left.' }
  }
  if (words.length === 0) return notReached(input)
  const reported = input.reportedOutcome
  if (reported && [...reportable, ...input.configuredOutcomes].includes(reported)) {
    return { outcome: reported, reason: `${reasonOf(reported)}${lastWords(words)}` }
  }
  return judgeByWords(words)
}

const notReached = ({ turns }: SummaryInput): Judgement => {
  const spoke = turns.some(({ speaker }) => speaker === 'contact')
  const reason = spoke
    ? 'The call was answered, but nothing the contact said could be understood.'
    : 'The call was answered, but nobody spoke.'
  return { outcome: spoke ? 'inconclusive' : 'not_reached', reason }
}

/** Cues in the contact's own words; the first match decides. */
const cues: readonly { readonly outcome: string; readonly said: RegExp }[] = [
  { outcome: 'wrong_number', said: /\bwrong (?:number|person)\b/i },
  {
    outcome: 'callback_requested',
    said: /\bcall (?:me )?(?:back|later|again|tomorrow)\b|\banother time\b|\bi am driving\b|\bi'm driving\b/i,
  },
  {
    outcome: 'not_achieved',
    said: /\bnot interested\b|\bno,? thank(?:s| you)\b|\bi (?:cannot|can't)\b/i,
  },
  {
    outcome: 'achieved',
    said: /\b(?:works for me|sounds good|that is fine|that's fine|of course|gladly)\b|^yes\b(?!, (?:this is|speaking))/i,
  },
]

const judgeByWords = (words: readonly string[]): Judgement => {
  for (const { outcome, said } of cues) {
    const telling = words.findLast((text) => said.test(text))
    if (telling !== undefined) return { outcome, reason: `The contact said: ${quote(telling)}` }
  }
  return {
    outcome: 'inconclusive',
    reason: `Nothing was agreed.${lastWords(words)}`,
  }
}

const reasonOf = (outcome: string): string => {
  const plain = outcome.replaceAll('_', ' ')
  return `The agent ended the call as ${plain}.`
}

const lastWords = (words: readonly string[]): string => {
  const last = words.at(-1)
  return last === undefined ? '' : ` The contact's last words were ${quote(last)}`
}

const contactTexts = ({ turns }: SummaryInput): string[] =>
  turns
    .filter(({ speaker, text }) => speaker === 'contact' && text !== unrecognisedText)
    .map(({ text }) => text)

const sentences = (input: SummaryInput): string[] => {
  const agentSaid = input.turns.find(({ speaker }) => speaker === 'agent')
  const opening = agentSaid ? [`The agent said ${quote(agentSaid.text)}`] : []
  return [...opening, ...contactSentences(input), ...endSentences(input)]
}

const contactSentences = (input: SummaryInput): string[] => {
  const words = contactTexts(input)
  if (input.voicemail !== 'none') return ['A voicemail answered.']
  if (words.length > 0) return [`The contact said ${telling(words).map(quote).join(' and ')}`]
  const spoke = input.turns.some(({ speaker }) => speaker === 'contact')
  return [
    spoke ? 'The contact spoke, but could not be understood.' : 'Nobody spoke on the other side.',
  ]
}

const endSentences = ({ optedOut, voicemail, hangUpReason }: SummaryInput): string[] => {
  const sentencesOfEnd: string[] = []
  if (optedOut) sentencesOfEnd.push('The contact asked not to be called again.')
  if (voicemail === 'message_left') sentencesOfEnd.push('The agent left its message.')
  if (voicemail === 'skipped') sentencesOfEnd.push('The agent left no message.')
  const end = hangUpReason && ends[hangUpReason]
  if (end) sentencesOfEnd.push(end)
  return sentencesOfEnd
}

const ends: Readonly<Record<HangUpReason, string | undefined>> = {
  agent_ended: 'The agent ended the call.',
  opted_out: 'The agent ended the call.',
  voicemail: undefined,
  callee_silent: 'The agent ended the call after a long silence.',
  duration_cap: 'The call ended at its greatest length.',
  transferred: 'The agent had the contact connected with a colleague.',
  callee_gone: undefined,
  nobody_there: 'No person answered: a fax, a busy tone or an announcement was heard.',
  held_too_long: 'The contact held the line until the call was ended.',
  engine_failed: 'The call broke off because the voice engine failed.',
}

/** The most informative turns, in their order: pleasantries are short. */
const telling = (words: readonly string[]): string[] => {
  const longest = words.toSorted((one, other) => other.length - one.length)
  const chosen = new Set(longest.slice(0, quotedContactTurns))
  return words.filter((text, index) => chosen.has(text) && words.indexOf(text) === index)
}

const quote = (text: string): string => {
  const short = shorten(text, maxQuoteLength)
  return /[.!?…]$/u.test(short) ? `"${short}"` : `"${short}."`
}

/** Counted in code points, cut after a word, with `…`. */
export const shorten = (text: string, maxLength: number): string => {
  const points = Array.from(text)
  if (points.length <= maxLength) return text
  const head = points.slice(0, maxLength - 1).join('')
  const lastSpace = head.lastIndexOf(' ')
  return `${lastSpace > 0 ? head.slice(0, lastSpace) : head}…`
}
