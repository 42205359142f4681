import type { OrganizationId } from '../../contract/organization-id.ts'
import type { PartialTurn } from '../../conversation/loop/conversation-types.ts'
import type { CallKey, SpokenTurn } from '../../domains/results/transcript-store.ts'
import type { MediaCall } from '../media/media-port.ts'

/** Something that was said in a call of this process. */
interface HeardWords {
  readonly callId: string
  /** A turn that is final. */
  readonly turn?: SpokenTurn
  /** The agent's words so far; null once they stand in a turn. */
  readonly speaking?: PartialTurn | null
}

type Listener = (heard: HeardWords) => void

/** Somebody who listens in on a call. */
interface Ear {
  /** A tenth of a second of G.711 (mu-law): the agent's first, then as much of the callee's. */
  hear(g711: Uint8Array): void
  /** The call is over. */
  end(): void
}

/** Why somebody may not listen in now. */
type Deafness = 'not_here' | 'too_many'

/** Those who listen in on one call, and on all calls of this process. */
const maxEarsPerCall = 5
const maxEars = 50

type WatchableMedia = Pick<MediaCall, 'reportWords' | 'passSound'>

/** The conversations that this process holds, for those who watch them. Nothing of it changes a call. */
export interface LiveRegistry {
  /** The call was answered. */
  enter(call: CallKey, media: WatchableMedia): LiveEntry
  isHere(call: CallKey): boolean
  /** Passes on what is said in the organization's calls of this process, until the returned function is called. */
  followWords(organizationId: OrganizationId, listener: Listener): () => void
  /** Listens in on a call until the returned function is called. */
  listen(call: CallKey, ear: Ear): Deafness | (() => void)
}

interface LiveEntry {
  said(turn: SpokenTurn): void
  speaks(words: PartialTurn | undefined): void
  sounds(g711: Uint8Array): void
  /** The call is over. */
  leave(): void
}

interface Held {
  readonly call: CallKey
  readonly media: WatchableMedia
  readonly ears: Set<Ear>
}

export const createLiveRegistry = (): LiveRegistry => {
  const held = new Map<string, Held>()
  const listeners = new Map<OrganizationId, Set<Listener>>()
  let ears = 0

  const tell = ({ organizationId }: CallKey, heard: HeardWords): void => {
    for (const listener of listeners.get(organizationId) ?? []) listener(heard)
  }
  const reportWords = (organizationId: OrganizationId, isOn: boolean): void => {
    for (const { call, media } of held.values())
      if (call.organizationId === organizationId) media.reportWords(isOn)
  }

  return {
    enter: (call, media) => {
      const { callId } = call
      const own: Held = { call, media, ears: new Set() }
      held.set(callId, own)
      if (listeners.has(call.organizationId)) media.reportWords(true)
      return {
        said: (turn) => tell(call, { callId, turn }),
        speaks: (words) => tell(call, { callId, speaking: words ?? null }),
        sounds: (g711) => {
          for (const ear of own.ears) ear.hear(g711)
        },
        leave: () => {
          if (held.get(callId) === own) held.delete(callId)
          for (const ear of own.ears) ear.end()
          ears -= own.ears.size
          own.ears.clear()
        },
      }
    },
    isHere: ({ organizationId, callId }) =>
      held.get(callId)?.call.organizationId === organizationId,
    followWords: (organizationId, listener) => {
      const own = listeners.get(organizationId) ?? new Set()
      if (own.size === 0) reportWords(organizationId, true)
      listeners.set(organizationId, own.add(listener))
      return () => {
        own.delete(listener)
        if (own.size > 0 || listeners.get(organizationId) !== own) return
        listeners.delete(organizationId)
        reportWords(organizationId, false)
      }
    },
    listen: ({ organizationId, callId }, ear) => {
      const own = held.get(callId)
      if (own?.call.organizationId !== organizationId) return 'not_here'
      if (own.ears.size >= maxEarsPerCall || ears >= maxEars) return 'too_many'
      own.ears.add(ear)
      ears += 1
      if (own.ears.size === 1) own.media.passSound(true)
      return () => {
        if (!own.ears.delete(ear)) return
        ears -= 1
        if (own.ears.size === 0) own.media.passSound(false)
      }
    },
  }
}
