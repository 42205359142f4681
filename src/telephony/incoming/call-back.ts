import { createHash } from 'node:crypto'
import { wantsDtls } from '../../sdp/read-sdp.ts'
import { createMediaNegotiator, type AgreedAudio, type MediaNegotiator } from '../../sdp/sdp.ts'
import type { Dialog } from '../../sip/dialog/dialog.ts'
import { cseqOf, tagOf } from '../../sip/message/headers.ts'
import { headerOf, type SipRequest } from '../../sip/message/message.ts'
import { reasonPhrases } from '../../sip/message/responses.ts'
import type { IncomingInvite } from '../../sip/user-agent/user-agent-types.ts'
import type { CallLeg, MediaAddress } from '../carrier.ts'
import { resolveMedia } from '../resolve-media.ts'
import { createSipCallLeg } from '../sip-carrier-leg.ts'
import { mediaAddress, mediaSourceRule, targetOf, type SipCarrierOptions } from '../sip-carrier.ts'
import { readCalled, readCaller, type WrittenParty } from './read-parties.ts'

/** An INVITE as a user agent hands it over. */
export type ArrivedInvite = IncomingInvite

/** A call of a person to us, before it has an answer. Exactly one of the last three gives it one. */
export interface CallBack {
  /** The same for every copy of its INVITE, on whichever way it came (RFC 3261 8.2.2.2). */
  readonly mergeKey: string
  /** Undefined: withheld. */
  readonly caller: string | undefined
  /** The numbers that it may be for, the most telling first. */
  readonly called: readonly WrittenParty[]
  /** Aborted when the caller gives up before the answer; the caller has its 487 then. */
  readonly cancelled: AbortSignal
  ring(): void
  decline(status: number, retryAfterSeconds?: number): void
  /** 302 to a number, E.164, reached through the same trunk, or to a SIP address. */
  forward(to: string): void
  /** 200, with an offer where the INVITE had none. The leg is like one that we dialled. */
  answer(localMedia: MediaAddress): Promise<AnswerOutcome>
}

type AnswerOutcome =
  | { readonly kind: 'answered'; readonly leg: CallLeg }
  /** 488 was sent, or BYE where the fault was in the caller's ACK. */
  | { readonly kind: 'unacceptable'; readonly reason: string }
  /** The caller gave up, or never sent its ACK and was sent BYE. */
  | { readonly kind: 'gone'; readonly reason: string }

/** An INVITE of the trunk's gateway. */
export const createCallBack = (incoming: IncomingInvite, options: SipCarrierOptions): CallBack => ({
  mergeKey: mergeKeyOf(incoming.request),
  caller: readCaller(incoming.request),
  called: readCalled(incoming.request),
  cancelled: incoming.cancelled,
  ring: () => incoming.provisional(180, phraseOf(180)),
  decline: (status, retryAfterSeconds) =>
    incoming.reject(
      status,
      phraseOf(status),
      retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) },
    ),
  forward: (to) =>
    incoming.reject(302, phraseOf(302), {
      Contact: `<${to.startsWith('+') ? targetOf(options, to) : to}>`,
    }),
  answer: (localMedia) => answer(incoming, options, localMedia),
})

const phraseOf = (status: number): string => reasonPhrases[status] ?? 'Unknown'

const mergeKeyOf = (request: SipRequest): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        headerOf(request, 'call-id') ?? '',
        tagOf(request, 'from') ?? '',
        cseqOf(request).sequence,
      ]),
    )
    .digest('hex')

const answer = async (
  incoming: IncomingInvite,
  options: SipCarrierOptions,
  localMedia: MediaAddress,
): Promise<AnswerOutcome> => {
  const address = await mediaAddress(options, localMedia)
  const negotiator = createMediaNegotiator({
    local: { address, port: localMedia.port },
    ...(options.trunk.srtp !== undefined && { srtp: options.trunk.srtp }),
    ...(options.codecs !== undefined && { codecs: options.codecs }),
  })
  const { offer } = incoming
  const answered = offer === undefined ? undefined : negotiator.answer(offer)
  if (offer !== undefined && answered === undefined) {
    incoming.reject(488, phraseOf(488))
    return { kind: 'unacceptable', reason: misfit(offer, options) }
  }
  const dialog = await incoming.accept(answered?.sdp ?? negotiator.offer())
  if (dialog === undefined)
    return {
      kind: 'gone',
      reason: incoming.cancelled.aborted
        ? 'The caller gave up.'
        : 'The caller never acknowledged the answer.',
    }
  const audio = answered?.audio ?? negotiator.acceptAnswer(dialog.remoteSdp)
  if (audio === undefined) {
    await dialog.bye()
    return { kind: 'unacceptable', reason: misfit(dialog.remoteSdp, options) }
  }
  return { kind: 'answered', leg: await legOf(dialog, negotiator, audio, options, incoming) }
}

const legOf = async (
  dialog: Dialog,
  negotiator: MediaNegotiator,
  audio: AgreedAudio,
  options: SipCarrierOptions,
  { request }: IncomingInvite,
): Promise<CallLeg> =>
  createSipCallLeg(dialog, negotiator, (await resolveMedia(audio)) ?? audio, {
    transfers: {
      targetOf: (to) => (to.startsWith('+') ? targetOf(options, to) : to),
      // We are who was called.
      referredBy: request.uri,
    },
    sources: mediaSourceRule(options, dialog),
    dtmf: options.trunk.dtmf,
    onRefused: (reason) => options.logger.warn({ reason }, 'an offer in a call to us was refused'),
  })

const misfit = (sdp: string, { trunk }: SipCarrierOptions): string => {
  if (sdp === '') return 'The caller sent no description of its audio.'
  if (wantsDtls(sdp)) return 'The caller wants DTLS-SRTP, which is not spoken here.'
  return trunk.srtp === 'required'
    ? 'The caller offers no SRTP with G.711, which the trunk requires.'
    : 'The caller offers no G.711 audio that fits the trunk.'
}
