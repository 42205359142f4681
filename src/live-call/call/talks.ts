import type { OrganizationId } from '../../contract/organization-id.ts'
import type { PartialTurn, TurnLatency } from '../../conversation/loop/conversation-types.ts'
import type { AgentDefinition } from '../../domains/agents/agent-definition.ts'
import type { TemplateContact } from '../../domains/agents/template.ts'
import { textsForContact } from '../../domains/agents/texts-for-contact.ts'
import type { OrganizationMode } from '../../domains/organizations/organization-mode.ts'
import type { SpokenTurn } from '../../domains/results/transcript-store.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import { newId } from '../../runtime/ids.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import { createBrowserLeg } from '../../telephony/browser-leg.ts'
import { MediaUnavailableError, type MediaCall } from '../media/media-port.ts'
import type { EngineChoice } from './choose-engine.ts'
import { planOf } from './load-call-plan.ts'
import { ConversationWatch } from './watch-conversation.ts'

/** Somebody talks to an agent in the browser. */
interface TalkRequest {
  readonly organizationId: OrganizationId
  readonly agent: AgentDefinition
  /** Whom the agent takes the browser for. */
  readonly contact: TemplateContact
  readonly mode: OrganizationMode
}

/** What the browser is told. */
interface TalkListener {
  onTurn(turn: SpokenTurn): void
  onWords(words: PartialTurn | undefined): void
  onLatency(latency: TurnLatency): void
  /** A tenth of a second of the agent, mu-law. */
  onSound(g711: Uint8Array): void
  /** Called once, with one sentence. */
  onEnd(why: string): void
}

interface Talk {
  hear(g711: Uint8Array): void
  leave(): void
}

/** Talks with agents in the browser: the engine, the loop and the media worker of a call, and nothing that is stored. */
export interface Talks extends Service {
  /** Why the agent cannot be talked to here, as a sentence; undefined where it can. */
  problemOf(request: Pick<TalkRequest, 'organizationId' | 'agent' | 'mode'>): string | undefined
  begin(request: TalkRequest, listener: TalkListener): Talk
}

interface TalksOptions {
  readonly media: { open(callId: string, socket: 'browser'): Promise<MediaCall> }
  readonly engineFor: EngineChoice
  readonly allowPrivateNetwork: boolean
  readonly monotonicMs: () => number
  readonly logger: Logger
}

/** A talk costs what a call costs, but for the line. */
const maxTalkMs = 600_000
const maxTalksPerOrganization = 3
const maxTalks = 20
const maxTalksPerHour = 60
const hourMs = 3_600_000
/** Organizations whose talks of the hour are counted. */
const maxCounted = 10_000

export const createTalks = (options: TalksOptions): Talks => {
  const { engineFor, monotonicMs, logger } = options
  const running = new Map<
    string,
    { readonly organizationId: OrganizationId; readonly leave: () => void }
  >()
  const settling = new Set<Promise<void>>()
  const begun = new BoundedMap<OrganizationId, readonly number[]>({ maxSize: maxCounted })

  const ofLastHour = (organizationId: OrganizationId): readonly number[] =>
    (begun.get(organizationId) ?? []).filter((atMs) => monotonicMs() - atMs < hourMs)

  const problemOf: Talks['problemOf'] = ({ organizationId, agent, mode }) => {
    const own = [...running.values()].filter((talk) => talk.organizationId === organizationId)
    if (own.length >= maxTalksPerOrganization)
      return `The organization talks to ${maxTalksPerOrganization} agents already: end one of these talks.`
    if (running.size >= maxTalks) return 'Too many talks are going on here. Try again later.'
    if (ofLastHour(organizationId).length >= maxTalksPerHour)
      return `The organization began ${maxTalksPerHour} talks in the last hour. Try again later.`
    const engine = engineFor(agent, mode, organizationId)
    return typeof engine === 'string' ? engine : undefined
  }

  return {
    problemOf,
    begin: (request, listener) => {
      const id = newId()
      const { organizationId } = request
      const problem = problemOf(request)
      if (problem !== undefined) {
        listener.onEnd(problem)
        return { hear: () => undefined, leave: () => undefined }
      }
      begun.set(organizationId, [...ofLastHour(organizationId), monotonicMs()])
      const leg = createBrowserLeg()
      running.set(id, { organizationId, leave: leg.left })
      let media: MediaCall | undefined
      const held = hold(id, request, leg, listener, options, (opened) => {
        media = opened
      })
        .catch((error: unknown) => {
          if (error instanceof MediaUnavailableError)
            return 'No media worker has room for a talk now. Try again later.'
          logger.error({ err: error }, 'a talk in the browser broke')
          return 'The talk broke off. The log of the service has the reason.'
        })
        .then((why) => {
          running.delete(id)
          listener.onEnd(why)
        })
        .finally(() => settling.delete(held))
      settling.add(held)
      return { hear: (g711) => media?.hear(g711), leave: leg.left }
    },
    start: async () => undefined,
    // Resolves when nothing of the talks is left.
    stop: async () => {
      for (const { leave } of running.values()) leave()
      await Promise.all(settling)
    },
  }
}

/** One talk from its beginning to its end; resolves with one sentence about the latter. */
const hold = async (
  id: string,
  { organizationId, agent, contact, mode }: TalkRequest,
  leg: ReturnType<typeof createBrowserLeg>,
  listener: TalkListener,
  options: TalksOptions,
  onOpen: (media: MediaCall) => void,
): Promise<string> => {
  const engine = options.engineFor(agent, mode, organizationId)
  if (typeof engine === 'string') return engine
  const media = await options.media.open(id, 'browser')
  try {
    const texts = textsForContact(agent, contact)
    const { allowPrivateNetwork } = options
    const plan = planOf({ organizationId }, agent, texts, engine, undefined, {
      callerId: '',
      allowPrivateNetwork,
    })
    const watch = new ConversationWatch({
      leg,
      media,
      maxDurationMs: Math.min(plan.maxDurationMs, maxTalkMs),
      maxHoldMs: maxTalkMs,
      signal: new AbortController().signal,
      onTurn: (turn) => listener.onTurn(turn),
      onWords: (words) => listener.onWords(words),
      onLatency: (latency) => listener.onLatency(latency),
      // The agent's lane; the browser hears its own microphone already.
      onSound: (g711) => listener.onSound(g711.subarray(0, g711.length / 2)),
      onHold: () => undefined,
      onOneWayAudio: () => undefined,
    })
    media.prepare(plan)
    media.start(leg.media, undefined)
    media.passSound(true)
    media.reportWords(true)
    onOpen(media)
    const end = await watch.ended
    watch.release()
    return sentenceOf(end)
  } finally {
    // The last words come while it stops.
    await media.stop()
  }
}

const sentenceOf = (end: Awaited<ConversationWatch['ended']>): string => {
  switch (end.kind) {
    case 'hang_up':
      return `The agent hung up: ${end.reason.replaceAll('_', ' ')}.`
    case 'duration_cap':
      return 'The talk reached its longest time.'
    case 'media_silence':
      return 'The microphone sent nothing for 30 s.'
    case 'breakdown':
      return end.reason
    case 'callee_hung_up':
    case 'cancel_requested':
    case 'shutdown':
    case 'held_too_long':
    case 'lost':
      return 'The talk has ended.'
  }
}
