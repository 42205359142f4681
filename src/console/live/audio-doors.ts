import type { SessionPrincipal } from '../../contract/principal.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { AgentDefinition } from '../../domains/agents/agent-definition.ts'
import type { TemplateContact } from '../../domains/agents/template.ts'
import type { OrganizationMode } from '../../domains/organizations/organization-mode.ts'
import type { CallKey, SpokenTurn } from '../../domains/results/transcript-store.ts'
import type { SessionWatch } from './session-watch.ts'
import type { Tickets } from './tickets.ts'

/** A browser that is connected. */
interface Peer {
  readonly principal: SessionPrincipal
  readonly send: (data: Uint8Array | string) => void
  readonly close: (code: number, reason: string) => void
}

/** What a ticket is for. */
export type AudioPurpose =
  | { readonly kind: 'listen'; readonly call: CallKey }
  | { readonly kind: 'talk'; readonly talk: TalkRequest }

/** The calls of this process that can be listened to. */
export interface SoundSource {
  readonly listen: (
    call: CallKey,
    ear: { hear(g711: Uint8Array): void; end(): void },
  ) => 'not_here' | 'too_many' | (() => void)
}

/** Somebody talks to an agent in the browser. */
interface TalkRequest {
  readonly organizationId: OrganizationId
  readonly agent: AgentDefinition
  /** Whom the agent takes the browser for. */
  readonly contact: TemplateContact
  readonly mode: OrganizationMode
}

interface TalkListener {
  onTurn(turn: SpokenTurn): void
  onWords(words: { readonly text: string; readonly audioOffsetMs: number } | undefined): void
  onLatency(latency: TurnLatency): void
  onSound(g711: Uint8Array): void
  onEnd(why: string): void
}

/** How long a reply took, as the talk measures it. */
interface TurnLatency {
  readonly audioOffsetMs: number
  readonly endpointingMs: number
  readonly transcriptionMs: number | null
  readonly modelMs: number
  readonly speechMs: number | null
  readonly ownMs: number
  readonly totalMs: number
}

/** The agents that can be talked to from a browser. */
export interface TalkSource {
  /** Why not now, as a sentence; undefined where it can be. */
  readonly problemOf: (
    request: Pick<TalkRequest, 'organizationId' | 'agent' | 'mode'>,
  ) => string | undefined
  readonly begin: (
    request: TalkRequest,
    listener: TalkListener,
  ) => { hear(g711: Uint8Array): void; leave(): void }
}

interface AudioDoorsOptions {
  readonly tickets: Pick<Tickets<AudioPurpose>, 'take'>
  readonly sounds: SoundSource
  readonly talks: TalkSource
  readonly sessions: Pick<SessionWatch, 'add'>
}

/** Codes by which the page knows why a connection ended. */
const ended = 1000
const signedOut = 4401
const gone = 4404
const crowded = 4429
const policyViolation = 1008

/** Judges a connection by its ticket, before it stands; what follows ends with its session. */
export const createAudioDoors =
  (options: AudioDoorsOptions) => (principal: SessionPrincipal, ticket: string) => {
    const purpose = options.tickets.take(principal, ticket)
    return (peer: Peer) => {
      const inside =
        purpose.kind === 'listen'
          ? enterCall(options.sounds, purpose.call, peer)
          : enterTalk(options.talks, purpose.talk, peer)
      const forget = options.sessions.add({
        principal,
        end: () => {
          inside.leave()
          peer.close(signedOut, 'The session ended, or may no longer do this.')
        },
      })
      return {
        onBytes: inside.hear,
        onClose: () => {
          forget()
          inside.leave()
        },
      }
    }
  }

interface Inside {
  readonly hear: (bytes: Uint8Array) => void
  readonly leave: () => void
}

const enterCall = (sounds: SoundSource, call: CallKey, peer: Peer): Inside => {
  const listening = sounds.listen(call, {
    hear: peer.send,
    end: () => peer.close(ended, 'The call has ended.'),
  })
  if (listening === 'not_here') peer.close(gone, 'The call is over, or another node carries it.')
  if (listening === 'too_many') peer.close(crowded, 'Too many listen already.')
  return {
    hear: () => peer.close(policyViolation, 'Nothing is said here.'),
    leave: typeof listening === 'function' ? listening : () => undefined,
  }
}

/** The most bytes of a reason in a close frame (RFC 6455 section 5.5). */
const maxReasonBytes = 123

const enterTalk = (talks: TalkSource, request: TalkRequest, peer: Peer): Inside => {
  const tell = (told: object): void => peer.send(JSON.stringify(told))
  return talks.begin(request, {
    onTurn: ({ sequence, speaker, text, audioOffsetMs }) =>
      tell({ type: 'turn', sequence, speaker, text, audio_offset_ms: audioOffsetMs }),
    onWords: (words) =>
      tell({
        type: 'words',
        words: words ? { text: words.text, audio_offset_ms: words.audioOffsetMs } : null,
      }),
    onLatency: (latency) => tell({ type: 'latency', latency: latencyOf(latency) }),
    onSound: peer.send,
    onEnd: (why) =>
      peer.close(
        ended,
        Buffer.from(why)
          .subarray(0, maxReasonBytes)
          .toString()
          .replace(/\uFFFD$/, ''),
      ),
  })
}

/** As the page of a call is told of them. */
const latencyOf = (latency: TurnLatency) => ({
  audio_offset_ms: latency.audioOffsetMs,
  endpointing_ms: latency.endpointingMs,
  transcription_ms: latency.transcriptionMs,
  model_ms: latency.modelMs,
  speech_ms: latency.speechMs,
  own_ms: latency.ownMs,
  total_ms: latency.totalMs,
})
