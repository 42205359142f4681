import { createDigestServer } from '../../../src/sip/digest/digest-server.ts'
import { headerOf, type SipRequest, type SipResponse } from '../../../src/sip/message/message.ts'
import { createResponse } from '../../../src/sip/message/responses.ts'

/** What a trunk does with requests; how it cannot be reached at all is the matter of its sockets. */
export type Mood = 'works' | 'silent' | 'other_password' | 'unavailable'

/** One request as the trunk met it. */
export interface Met {
  readonly atMs: number
  readonly method: string
  readonly sipCallId: string
  readonly fate: 'rang' | 'answered' | 'refused' | 'unanswered'
}

/** The calls and probes that reached a trunk. */
export interface PeerJournal {
  readonly met: readonly Met[]
  /** How often a phone rang, by number. */
  readonly rings: ReadonlyMap<string, number>
  /** Numbers whose INVITE arrived and got no response. */
  readonly unanswered: ReadonlySet<string>
}

export interface SipAnswers extends PeerJournal {
  mood: Mood
  /** The responses to a request; none for silence. */
  answer(request: SipRequest): readonly SipResponse[]
}

export const peerCredentials = { username: 'outdial', password: 'correct-horse' }
/** Of a trunk whose administrator changed the password. */
const otherCredentials = { username: 'outdial', password: 'battery-staple' }

/**
 * Each phone behind this trunk rings and is busy at once, so that a thousand calls end in the time of a thousand
 * INVITEs. `asksPassword`: INVITEs are challenged.
 */
export const createSipAnswers = (asksPassword: boolean): SipAnswers => {
  const servers = {
    right: createDigestServer(peerCredentials, { realm: 'outage' }),
    other: createDigestServer(otherCredentials, { realm: 'outage' }),
  }
  const met: Met[] = []
  const rings = new Map<string, number>()
  const ringing = new Set<string>()
  const unanswered = new Set<string>()

  const challenge = (request: SipRequest, mood: Mood): SipResponse | undefined => {
    if (!asksPassword) return undefined
    const server = mood === 'other_password' ? servers.other : servers.right
    const proof = headerOf(request, 'proxy-authorization')
    const { method, uri, body } = request
    if (server.verify(proof, { method, uri, body })) return undefined
    return createResponse(request, 407, {
      toTag: 'outage',
      headers: [['Proxy-Authenticate', server.challenge()]],
    })
  }

  const answerInvite = (request: SipRequest, mood: Mood): Reaction => {
    const refusal =
      mood === 'unavailable'
        ? createResponse(request, 503, { toTag: 'outage' })
        : challenge(request, mood)
    if (refusal !== undefined) return { fate: 'refused', responses: [refusal] }
    const sipCallId = headerOf(request, 'call-id') ?? ''
    const number = numberOf(request)
    if (!ringing.has(sipCallId)) rings.set(number, (rings.get(number) ?? 0) + 1)
    ringing.add(sipCallId)
    unanswered.delete(number)
    const responses = [180, 486].map((status) =>
      createResponse(request, status, { toTag: 'outage' }),
    )
    return { fate: 'rang', responses }
  }

  const decide = (request: SipRequest, mood: Mood): Reaction => {
    const isInvite = request.method === 'INVITE'
    if (mood === 'silent') {
      if (isInvite && !ringing.has(headerOf(request, 'call-id') ?? ''))
        unanswered.add(numberOf(request))
      return { fate: 'unanswered', responses: [] }
    }
    if (isInvite) return answerInvite(request, mood)
    if (request.method === 'ACK') return { fate: 'answered', responses: [] }
    return { fate: 'answered', responses: [createResponse(request, 200, { toTag: 'outage' })] }
  }

  const answers: SipAnswers = {
    mood: 'works',
    met,
    rings,
    unanswered,
    answer: (request) => {
      const { fate, responses } = decide(request, answers.mood)
      const sipCallId = headerOf(request, 'call-id') ?? ''
      met.push({ atMs: performance.now(), method: request.method, sipCallId, fate })
      return responses
    },
  }
  return answers
}

interface Reaction {
  readonly fate: Met['fate']
  readonly responses: readonly SipResponse[]
}

const numberOf = (request: SipRequest): string => /\+\d+/.exec(request.uri)?.[0] ?? ''
