import { setTimeout as delay } from 'node:timers/promises'
import type { BoundedMap } from '../../runtime/bounded-map.ts'
import { maskPhoneNumber, type Logger } from '../../runtime/logger.ts'
import type { RtpSession } from '../../rtp/rtp-session-types.ts'
import type { Ticker } from '../../rtp/ticker.ts'
import type { DigestServer } from '../../sip/digest/digest-server.ts'
import { parseNameAddress } from '../../sip/message/headers.ts'
import { headerOf } from '../../sip/message/message.ts'
import { createMediaNegotiator, type AgreedAudio, type MediaNegotiator } from '../../sdp/sdp.ts'
import { parseSipUri } from '../../sip/message/uri.ts'
import type { IncomingInvite } from '../../sip/user-agent/user-agent-types.ts'
import type { Dialog } from '../../sip/dialog/dialog.ts'
import type { CallJournal, JournalEvent } from './call-journal.ts'
import { createPersonaMedia, type PersonaMedia } from './persona-media.ts'
import { createPersonaTalk, type SpeakLine } from './persona-talk.ts'
import { takeTransfers } from './persona-transfer.ts'
import { callIdHeader, type Answering, type Persona } from './personas.ts'

interface PersonaCallDependencies {
  /** The persona at each number. */
  personaFor(number: string): Persona
  readonly openSession: () => Promise<RtpSession>
  readonly ticker: Ticker
  readonly speak: SpeakLine
  readonly journal: CallJournal
  readonly digest: DigestServer
  /** Calls that already got their 503, by `congestionKey`. */
  readonly congested: BoundedMap<string, true>
  /** Aborted when the carrier stops: all waits end. */
  readonly signal: AbortSignal
  readonly logger: Logger
}

/** Longer than any agent may talk (60 minutes): the persona of a vanished caller ends too. */
const maxCallMs = 62 * 60_000
/** Three times the longest ring timeout; then 480, as from a network. */
const maxRingMs = 180_000

interface Call {
  readonly incoming: IncomingInvite
  readonly number: string
  readonly callId: string
  readonly note: (event: JournalEvent, detail?: string) => void
}

/** Answers one INVITE as the dialled number's persona. Resolves when the call is over; never rejects. */
export const servePersonaCall = async (
  incoming: IncomingInvite,
  deps: PersonaCallDependencies,
): Promise<void> => {
  const call = identify(incoming, deps.journal)
  call.note('invite')
  deps.logger.debug({ call_id: call.callId, to: maskPhoneNumber(call.number) }, 'sandbox INVITE')
  try {
    await act(call, deps)
  } catch (error) {
    deps.logger.error({ err: error, call_id: call.callId }, 'a sandbox persona broke')
    incoming.reject(500, 'Server Internal Error')
  }
}

const identify = (incoming: IncomingInvite, journal: CallJournal): Call => {
  const { request } = incoming
  const sipCallId = headerOf(request, 'call-id') ?? ''
  const callId = headerOf(request, callIdHeader.toLowerCase()) ?? sipCallId
  const number = decodeURIComponent(parseSipUri(request.uri)?.user ?? '')
  return {
    incoming,
    number,
    callId,
    note: (event, detail) =>
      journal.record({ event, callId, sipCallId, number, ...(detail !== undefined && { detail }) }),
  }
}

const act = async (call: Call, deps: PersonaCallDependencies): Promise<void> => {
  const { answer } = deps.personaFor(call.number)
  switch (answer.kind) {
    case 'refuse':
      return call.incoming.reject(answer.status, answer.reason)
    case 'ring_on':
      return ringOn(call, deps.signal)
    case 'answer':
      return ringAndAnswer(call, answer, deps)
    case 'challenge':
      if (isAuthorized(call, deps.digest)) return ringAndAnswer(call, answer.afterwards, deps)
      call.note('challenged')
      return call.incoming.reject(407, 'Proxy Authentication Required', {
        'Proxy-Authenticate': deps.digest.challenge(),
      })
    case 'congested_once':
      if (deps.congested.has(congestionKey(call))) {
        return ringAndAnswer(call, answer.afterwards, deps)
      }
      deps.congested.set(congestionKey(call), true)
      call.note('congested')
      return call.incoming.reject(503, 'Service Unavailable', {
        'Retry-After': String(answer.retryAfterSeconds),
      })
  }
}

/**
 * The caller's own id of its call; without one, the caller and callee numbers, because a second attempt has another
 * SIP Call-ID.
 */
const congestionKey = ({ incoming: { request }, number }: Call): string => {
  const from = parseNameAddress(headerOf(request, 'from') ?? '')?.uri ?? ''
  return headerOf(request, callIdHeader.toLowerCase()) ?? `${from} ${number}`
}

const isAuthorized = ({ incoming: { request } }: Call, digest: DigestServer): boolean =>
  digest.verify(headerOf(request, 'proxy-authorization'), request)

/** Rings for this long; `false` when the caller gave up before. */
const ring = ({ incoming, note }: Call, ms: number, stopped: AbortSignal): Promise<boolean> => {
  note('ringing')
  incoming.provisional(180, 'Ringing')
  const signal = AbortSignal.any([incoming.cancelled, stopped])
  return delay(ms, true, { signal }).catch(() => false)
}

const ringOn = async (call: Call, stopped: AbortSignal): Promise<void> => {
  if (await ring(call, maxRingMs, stopped)) {
    call.incoming.reject(480, 'Temporarily Unavailable')
  }
}

const ringAndAnswer = async (
  call: Call,
  { ringMs, behaviour }: Answering,
  deps: PersonaCallDependencies,
): Promise<void> => {
  if (!(await ring(call, ringMs, deps.signal))) return
  const session = await deps.openSession()
  const media = await createPersonaMedia(session, deps.ticker)
  session.onDigit((digit) => call.note('pressed', digit))
  try {
    const dialog = await pickUp(call, createMediaNegotiator({ local: session }), media)
    if (!dialog) return
    const transfers = takeTransfers(dialog, deps, (target) => call.note('referred', target))
    const talk = createPersonaTalk(behaviour, deps.speak)
    const patient = { tick: (isVoiced: boolean) => talk.tick(isVoiced, transfers.isUnderWay) }
    media.start(patient, () => void dialog.bye())
    await endOf(dialog, deps.signal)
    call.note('ended')
  } finally {
    await media.stop()
  }
}

/** Negotiates media and sends 200; `undefined` if negotiation fails or the caller is gone. */
const pickUp = async (
  call: Call,
  negotiator: MediaNegotiator,
  media: PersonaMedia,
): Promise<Dialog | undefined> => {
  const { incoming } = call
  const answer = incoming.offer === undefined ? undefined : negotiator.answer(incoming.offer)
  if (incoming.offer !== undefined && !answer) {
    incoming.reject(488, 'Not Acceptable Here')
    return undefined
  }
  if (answer) connect(media, answer.audio)
  const dialog = await incoming.accept(answer?.sdp ?? negotiator.offer())
  if (!dialog) return undefined
  call.note('answered')
  if (!answer) connect(media, negotiator.acceptAnswer(dialog.remoteSdp))
  followOffers(dialog, negotiator, media)
  return dialog
}

const followOffers = (dialog: Dialog, negotiator: MediaNegotiator, media: PersonaMedia): void => {
  dialog.onOffer((offer) => {
    const answer = negotiator.answer(offer)
    connect(media, answer?.audio)
    return answer?.sdp
  })
  dialog.onOfferRequest(
    () => negotiator.offer(),
    (answer) => connect(media, negotiator.acceptAnswer(answer)),
  )
}

const connect = (media: PersonaMedia, audio: AgreedAudio | undefined): void => {
  if (audio) media.connect(audio, audio.direction)
}

const endOf = async (dialog: Dialog, stopped: AbortSignal): Promise<void> => {
  const over = new AbortController()
  const signal = AbortSignal.any([over.signal, stopped])
  const tooLong = delay(maxCallMs, undefined, { signal }).then(
    () => dialog.bye(),
    () => {},
  )
  await dialog.ended
  over.abort()
  await tooLong
}
