import type { Turn } from './conversation-types.ts'
import { heardWords } from '../engine/heard-words.ts'

/**
 * Puts the turns of both sides into the order in which they began, though their texts arrive in any order, and hands
 * each out once it is final.
 */
export interface TurnLog {
  /** A frame of the agent's was played at this time; the first voiced one dates the turn. */
  agentPlayed(utteranceId: string, atMs: number, isVoiced: boolean): void
  agentText(utteranceId: string, text: string): void
  /** The utterance is over after `playedMs` of `producedMs`; its text ends where the sound did. */
  agentOver(utteranceId: string, playedMs: number, producedMs: number): void
  /** The callee began to speak; text is expected. */
  contactStarted(startMs: number): void
  contactStopped(): void
  /** What the callee said in the speech that began at `startMs`; empty if nothing was understood. */
  contactText(startMs: number, text: string): void
  /** Hands out what is final at this time. Call it now and then. */
  flush(nowMs: number): void
  /** Hands out everything that has a text, in order. */
  end(): void
  /** Whether no text is outstanding. */
  readonly isSettled: boolean
}

interface Entry {
  readonly speaker: 'agent' | 'contact'
  /** The utterance, or the engine's start time of the speech. */
  readonly key: string | number
  offsetMs: number
  isOffsetVoiced: boolean
  text: string | undefined
  /** Of agents: how much of the text was heard; `undefined` while it is being spoken. */
  heardPart: number | undefined
  isDropped: boolean
  /** From when on the text is no longer waited for; `Infinity` while the speech goes on. */
  deadlineMs: number
}

const textDelayLimitMs = 4_000
/** A callee's speech that never ends is a noise. */
const speechLimitMs = 60_000
const maxEntries = 200
const maxEarlyTexts = 16

/**
 * `onTurn` gets the turns with sequence numbers from 1, without gaps. `heardAt` gives the time at which speech was really
 * heard to begin for the time the engine gives.
 */
export const createTurnLog = (
  onTurn: (turn: Turn) => void,
  heardAt: (engineMs: number) => number = (engineMs) => engineMs,
): TurnLog => {
  let entries: Entry[] = []
  const earlyTexts = new Map<string, string>()
  let sequence = 0
  let nowMs = 0

  const find = (speaker: Entry['speaker'], key: Entry['key']): Entry | undefined =>
    entries.find((entry) => entry.speaker === speaker && entry.key === key)

  const add = (
    speaker: Entry['speaker'],
    key: Entry['key'],
    offsetMs: number,
    deadlineMs: number,
  ): Entry => {
    const entry: Entry = {
      speaker,
      key,
      offsetMs,
      isOffsetVoiced: false,
      text: undefined,
      heardPart: undefined,
      isDropped: false,
      deadlineMs,
    }
    entries.push(entry)
    if (entries.length > maxEntries) entries[0]!.isDropped = true
    return entry
  }

  const isFinal = (entry: Entry): boolean =>
    entry.text !== undefined && (entry.speaker === 'contact' || entry.heardPart !== undefined)

  const emit = (entry: Entry): void => {
    const text = heardWords(entry.text ?? '', entry.heardPart ?? 1)
    if (entry.isDropped || text === '') return
    sequence += 1
    onTurn({ sequence, speaker: entry.speaker, text, audioOffsetMs: entry.offsetMs })
  }

  const flush = (): void => {
    entries.sort((one, other) => one.offsetMs - other.offsetMs)
    while (entries[0]) {
      const entry = entries[0]
      if (!entry.isDropped && !isFinal(entry) && nowMs < entry.deadlineMs) return
      entries.shift()
      if (isFinal(entry)) emit(entry)
    }
  }

  return {
    agentPlayed(utteranceId, atMs, isVoiced) {
      let entry = find('agent', utteranceId)
      if (!entry) {
        entry = add('agent', utteranceId, atMs, Infinity)
        entry.text = earlyTexts.get(utteranceId)
        earlyTexts.delete(utteranceId)
      }
      if (!isVoiced || entry.isOffsetVoiced) return
      entry.offsetMs = atMs
      entry.isOffsetVoiced = true
    },
    agentText(utteranceId, text) {
      const entry = find('agent', utteranceId)
      if (entry) entry.text = text
      else rememberEarly(earlyTexts, utteranceId, text)
    },
    agentOver(utteranceId, playedMs, producedMs) {
      earlyTexts.delete(utteranceId)
      const entry = find('agent', utteranceId)
      if (!entry) return
      entry.heardPart = producedMs > 0 ? playedMs / producedMs : 0
      entry.deadlineMs = nowMs + textDelayLimitMs
    },
    contactStarted(startMs) {
      add('contact', startMs, heardAt(startMs), nowMs + speechLimitMs)
    },
    contactStopped() {
      const open = entries.findLast((entry) => entry.speaker === 'contact' && !entry.text)
      if (open) open.deadlineMs = nowMs + textDelayLimitMs
    },
    contactText(startMs, text) {
      const entry = find('contact', startMs) ?? add('contact', startMs, startMs, nowMs)
      entry.offsetMs = heardAt(startMs)
      entry.text = text
    },
    flush(atMs) {
      nowMs = atMs
      flush()
    },
    end() {
      nowMs = Infinity
      flush()
    },
    get isSettled() {
      return entries.every((entry) => entry.isDropped || isFinal(entry))
    },
  }
}

const rememberEarly = (texts: Map<string, string>, utteranceId: string, text: string): void => {
  texts.set(utteranceId, text)
  const [oldest] = texts.keys()
  if (texts.size > maxEarlyTexts && oldest !== undefined) texts.delete(oldest)
}
