import type { PartialTurn, Turn } from './conversation-types.ts'
import type { PlayedUtterance } from './playout-queue.ts'
import { heardWords } from '../engine/heard-words.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'

interface Entry {
  readonly speaker: 'agent' | 'contact'
  /** The utterance, or the engine's start time of the speech. */
  readonly key: string | number
  offsetMs: number
  isOffsetVoiced: boolean
  text: string | undefined
  /** Of agents: how much of the text was heard; `undefined` while it is playing. */
  heardPart: number | undefined
  isDropped: boolean
  /** Of callees, where turns are joined: the turn to which this stretch of speech belongs. */
  turn: number
  /** From this time on the log does not wait for the text; `Infinity` while the speech goes on. */
  deadlineMs: number
}

const textDelayLimitMs = 4_000
/** Speech of a callee that never ends is noise. */
const speechLimitMs = 60_000
const maxEntries = 200
const maxEarlyTexts = 16

/**
 * Orders the turns of both sides by their beginning, although their texts arrive in any order, and
 * delivers each one when it is final.
 */
export class TurnLog {
  readonly #onTurn: (turn: Turn) => void
  readonly #heardAt: (engineMs: number) => number
  readonly #earlyTexts = new BoundedMap<string, string>({ maxSize: maxEarlyTexts })
  #entries: Entry[] = []
  #sequence = 0
  #nowMs = 0
  /** The number of the callee's turn; stretches of speech of one turn are joined. 0: none are. */
  #turn = 0

  /**
   * @param onTurn gets the turns with sequence numbers from 1, without gaps
   * @param heardAt returns the time at which the loop heard the speech begin that the engine dates
   * at `engineMs`
   */
  constructor(
    onTurn: (turn: Turn) => void,
    heardAt: (engineMs: number) => number = (engineMs) => engineMs,
  ) {
    this.#onTurn = onTurn
    this.#heardAt = heardAt
  }

  /** From now on the callee's stretches of speech up to `turnOver` are one turn. */
  joinTurns(): void {
    this.#turn = 1
  }

  /** The callee's turn is over. */
  turnOver(): void {
    if (this.#turn > 0) this.#turn += 1
  }

  /** The speech that began then was no turn. */
  dismiss(startMs: number): void {
    const entry = this.#find('contact', startMs)
    if (entry) entry.isDropped = true
  }

  /** The speech that began then is a turn of its own, and complete. */
  aside(startMs: number): void {
    const entry = this.#find('contact', startMs)
    if (entry) entry.turn = 0
  }

  /** Whether every turn has its text. */
  get isSettled(): boolean {
    return this.#entries.every((entry) => entry.isDropped || isFinal(entry))
  }

  /** A frame of the agent was played at this time; the first voiced one dates the turn. */
  agentPlayed(utteranceId: string, atMs: number, isVoiced: boolean): void {
    const entry = this.#find('agent', utteranceId) ?? this.#beginAgentTurn(utteranceId, atMs)
    if (!isVoiced || entry.isOffsetVoiced) return
    entry.offsetMs = atMs
    entry.isOffsetVoiced = true
  }

  agentText(utteranceId: string, text: string): void {
    const entry = this.#find('agent', utteranceId)
    if (entry) entry.text = text
    else this.#rememberEarly(utteranceId, text)
  }

  /** The utterance is over after `playedMs` of `producedMs`; its text ends where the audio did. */
  agentOver(utteranceId: string, playedMs: number, producedMs: number): void {
    this.#earlyTexts.delete(utteranceId)
    const entry = this.#find('agent', utteranceId)
    if (!entry) return
    entry.heardPart = producedMs > 0 ? playedMs / producedMs : 0
    entry.deadlineMs = this.#nowMs + textDelayLimitMs
  }

  /** What was heard so far of the agent's newest turn, while that turn is not delivered yet. */
  agentWords(playing: PlayedUtterance | undefined): PartialTurn | undefined {
    const entry = this.#entries.findLast(
      ({ speaker, isDropped }) => speaker === 'agent' && !isDropped,
    )
    if (entry?.text === undefined) return undefined
    const part = entry.heardPart ?? partOf(playing, entry.key)
    const text = part === undefined ? '' : heardWords(entry.text, part)
    return text === '' ? undefined : { text, audioOffsetMs: entry.offsetMs }
  }

  /** The callee began to speak; text is expected. */
  contactStarted(startMs: number): void {
    this.#add('contact', startMs, this.#heardAt(startMs), this.#nowMs + speechLimitMs)
  }

  contactStopped(): void {
    const open = this.#entries.findLast((entry) => entry.speaker === 'contact' && !entry.text)
    if (open) open.deadlineMs = this.#nowMs + textDelayLimitMs
  }

  /** The callee's words for the speech that began at `startMs`; empty if nothing was understood. */
  contactText(startMs: number, text: string): void {
    const entry =
      this.#find('contact', startMs) ?? this.#add('contact', startMs, startMs, this.#nowMs)
    entry.offsetMs = this.#heardAt(startMs)
    entry.text = text
  }

  /** Delivers the turns that are final at this time. Call it several times a second. */
  flush(nowMs: number): void {
    this.#nowMs = nowMs
    this.#entries.sort((one, other) => one.offsetMs - other.offsetMs)
    for (let first = this.#entries[0]; first !== undefined; first = this.#entries[0]) {
      if (!first.isDropped && !isFinal(first) && nowMs < first.deadlineMs) return
      if (this.#goesOn(first, nowMs)) return
      this.#entries.shift()
      if (isFinal(first) && !this.#join(first)) this.#emit(first)
    }
  }

  /** Delivers every turn that has a text, in order. */
  end(): void {
    this.flush(Infinity)
  }

  /** Whether the callee may add to this stretch of speech. */
  #goesOn(entry: Entry, nowMs: number): boolean {
    const isOpen = entry.speaker === 'contact' && !entry.isDropped && entry.turn === this.#turn
    return isOpen && this.#turn > 0 && nowMs < entry.offsetMs + speechLimitMs
  }

  /** Adds the words to those of the next stretch of the same turn, if that has words. */
  #join(entry: Entry): boolean {
    const [next] = this.#entries
    const isSameTurn = next?.speaker === 'contact' && entry.speaker === 'contact'
    if (entry.turn === 0 || !isSameTurn || next.turn !== entry.turn || entry.isDropped) return false
    if (next.isDropped || !next.text) return false
    next.text = `${entry.text ?? ''} ${next.text}`.trim()
    next.offsetMs = entry.offsetMs
    return true
  }

  #find(speaker: Entry['speaker'], key: Entry['key']): Entry | undefined {
    return this.#entries.find((entry) => entry.speaker === speaker && entry.key === key)
  }

  #beginAgentTurn(utteranceId: string, atMs: number): Entry {
    const entry = this.#add('agent', utteranceId, atMs, Infinity)
    entry.text = this.#earlyTexts.get(utteranceId)
    this.#earlyTexts.delete(utteranceId)
    return entry
  }

  #add(speaker: Entry['speaker'], key: Entry['key'], offsetMs: number, deadlineMs: number): Entry {
    const entry: Entry = {
      speaker,
      key,
      offsetMs,
      isOffsetVoiced: false,
      text: undefined,
      heardPart: undefined,
      isDropped: false,
      turn: speaker === 'contact' ? this.#turn : 0,
      deadlineMs,
    }
    this.#entries.push(entry)
    if (this.#entries.length > maxEntries) this.#entries[0]!.isDropped = true
    return entry
  }

  #rememberEarly(utteranceId: string, text: string): void {
    this.#earlyTexts.set(utteranceId, text)
  }

  #emit(entry: Entry): void {
    const text = heardWords(entry.text ?? '', entry.heardPart ?? 1)
    if (entry.isDropped || text === '') return
    this.#sequence += 1
    const { speaker, offsetMs } = entry
    this.#onTurn({ sequence: this.#sequence, speaker, text, audioOffsetMs: offsetMs })
  }
}

/** The share that was played of an utterance that is playing. */
const partOf = (playing: PlayedUtterance | undefined, key: Entry['key']): number | undefined =>
  playing?.utteranceId === key && playing.producedMs > 0
    ? playing.playedMs / playing.producedMs
    : undefined

const isFinal = (entry: Entry): boolean =>
  entry.text !== undefined && (entry.speaker === 'contact' || entry.heardPart !== undefined)
