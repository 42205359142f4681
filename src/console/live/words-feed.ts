import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Database } from '../../database/database.ts'
import { listNewTurns } from '../../domains/results/transcript-store.ts'

/** A turn, or the beginning of one. */
interface Said {
  readonly sequence: number
  readonly speaker: string
  readonly text: string
  readonly audioOffsetMs: number
}

/** What a process knows of words in its own calls before they are stored. */
export interface WordsSource {
  followWords(
    organizationId: OrganizationId,
    listener: (heard: {
      readonly callId: string
      readonly turn?: Said
      readonly speaking?: Pick<Said, 'text' | 'audioOffsetMs'> | null
    }) => void,
  ): () => void
}

/** What was said in one call since the last time, as a browser is told it. */
interface CallWords {
  readonly id: string
  readonly turns: {
    readonly sequence: number
    readonly speaker: string
    readonly text: string
    readonly audio_offset_ms: number
  }[]
  /** The agent's words so far; null once they stand in a turn, absent where they are as they were. */
  speaking?: { readonly text: string; readonly audio_offset_ms: number } | null
}

/** A browser that reads words. */
interface Reader {
  /** The calls that it watches. */
  readonly watches: WatchedCalls
  readonly send: (calls: readonly CallWords[]) => void
}

/** Every live call of the organization, or some. */
export type WatchedCalls = 'all' | ReadonlySet<string>

/** Calls whose last turn is remembered; an installation has fewer channels. */
const maxRemembered = 2_000
/** A turn is told in parts of a screen; whoever opens the call reads all of it. */
const maxTextLength = 2_000

/**
 * The words of one organization's calls as they are spoken: from this process at once, from other nodes once they are
 * stored. Nothing is followed while nobody reads.
 */
export const createWordsFeed = (
  organizationId: OrganizationId,
  database: Database,
  source: WordsSource,
) => {
  const readers = new Set<Reader>()
  /** The newest turn that was told of each call. */
  const told = new Map<string, number>()
  let gathered = new Map<string, CallWords>()
  let leave: (() => void) | undefined

  const wordsOf = (id: string): CallWords => {
    const known = gathered.get(id) ?? { id, turns: [] }
    gathered.set(id, known)
    return known
  }
  const addTurn = (callId: string, { sequence, speaker, text, audioOffsetMs }: Said): void => {
    if (sequence <= (told.get(callId) ?? -1)) return
    told.delete(callId)
    told.set(callId, sequence)
    const [oldest] = told.keys()
    if (told.size > maxRemembered && oldest !== undefined) told.delete(oldest)
    const shown = text.slice(0, maxTextLength)
    wordsOf(callId).turns.push({ sequence, speaker, text: shown, audio_offset_ms: audioOffsetMs })
  }
  const isRead = (callId: string): boolean =>
    [...readers].some(({ watches }) => watches === 'all' || watches.has(callId))

  const begin = (): void => {
    leave = source.followWords(organizationId, ({ callId, turn, speaking }) => {
      if (!isRead(callId)) return
      if (turn) addTurn(callId, turn)
      if (speaking !== undefined)
        wordsOf(callId).speaking = speaking && {
          text: speaking.text.slice(0, maxTextLength),
          audio_offset_ms: speaking.audioOffsetMs,
        }
    })
  }
  const end = (): void => {
    leave?.()
    leave = undefined
    told.clear()
    gathered.clear()
  }

  return {
    add: (reader: Reader): (() => void) => {
      readers.add(reader)
      if (readers.size === 1) begin()
      return () => {
        if (readers.delete(reader) && readers.size === 0) end()
      }
    },
    /** Reads the turns of calls that say more than before: those of other nodes are nowhere else. */
    look: async (callIds: readonly string[]): Promise<void> => {
      const after = new Map(callIds.filter(isRead).map((id) => [id, told.get(id) ?? -1]))
      if (after.size === 0) return
      const turns = await listNewTurns(database, organizationId, after)
      if (readers.size > 0) for (const { callId, ...turn } of turns) addTurn(callId, turn)
    },
    /** Sends what was gathered. */
    flush: (): void => {
      if (gathered.size === 0) return
      const calls = [...gathered.values()]
      gathered = new Map()
      for (const { watches, send } of readers) {
        const own = watches === 'all' ? calls : calls.filter(({ id }) => watches.has(id))
        if (own.length > 0) send(own)
      }
    },
  }
}
