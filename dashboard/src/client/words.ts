import { useEffect, useSyncExternalStore } from 'react'
import { wantWords } from './stream-interest.ts'

/** What the stream tells of one call. */
export interface CallWords {
  readonly id: string
  readonly turns: readonly SpokenTurn[]
  readonly speaking?: { readonly text: string; readonly audio_offset_ms: number } | null
}

interface SpokenTurn {
  readonly sequence: number
  readonly speaker: string
  readonly text: string
  readonly audio_offset_ms: number
}

/** What is known of one call's words. */
interface HeardWords {
  /** The newest turns, in the order in which they became final. */
  readonly turns: readonly SpokenTurn[]
  /** What the agent says now. */
  readonly speaking: { readonly text: string; readonly audio_offset_ms: number } | undefined
}

/** Calls whose words are kept; the oldest go first. */
const maxCalls = 1_000
/** Turns that are kept of each: the page of a call asks for all of them. */
const maxTurns = 50

const heard = new Map<string, HeardWords>()
const listeners = new Map<string, Set<() => void>>()

/** Takes what the stream told. Only what shows one of these calls is drawn again. */
export const takeWords = (calls: readonly CallWords[]): void => {
  for (const { id, turns, speaking } of calls) {
    const before = heard.get(id)
    const newest = before?.turns.at(-1)?.sequence ?? 0
    const added = turns.filter(({ sequence }) => sequence > newest)
    heard.delete(id)
    heard.set(id, {
      turns:
        added.length === 0
          ? (before?.turns ?? [])
          : [...(before?.turns ?? []), ...added].slice(-maxTurns),
      speaking: speaking === undefined ? before?.speaking : (speaking ?? undefined),
    })
    const [oldest] = heard.keys()
    if (heard.size > maxCalls && oldest !== undefined) heard.delete(oldest)
    for (const listener of listeners.get(id) ?? []) listener()
  }
}

/** Another organization, or another person. */
export const forgetWords = (): void => heard.clear()

/** The words of one call that came since they are watched. */
export const useHeardWords = (callId: string): HeardWords | undefined =>
  useSyncExternalStore(
    (listener) => {
      const own = listeners.get(callId) ?? new Set()
      listeners.set(callId, own.add(listener))
      return () => {
        own.delete(listener)
        if (own.size === 0) listeners.delete(callId)
      }
    },
    () => heard.get(callId),
  )

/** Has the browser's stream tell the words of a call, or of `all` live calls, while the page is shown. */
export const useWatchedWords = (calls: string): void => {
  useEffect(() => wantWords(calls), [calls])
}
