import { wantsDtls } from '../sdp/read-sdp.ts'
import type { AgreedAudio, MediaNegotiator } from '../sdp/sdp.ts'
import type { Dialog } from '../sip/dialog/dialog.ts'
import type { CallLeg, DtmfMode, LegEnd, NegotiatedMedia, TransferOutcome } from './carrier.ts'
import { digitOfInfo, sendInfoDigits } from './info-digit.ts'
import { withMediaSources, type MediaSourceRule } from './media-sources.ts'
import { resolveMedia } from './resolve-media.ts'
import { refer } from './refer.ts'

export interface TransferSettings {
  /** The URI of a number on this leg's trunk; a SIP address stays as it is. */
  targetOf(to: string): string
  /** Our own URI. */
  readonly referredBy: string
}

interface LegSettings {
  readonly transfers: TransferSettings
  readonly sources: MediaSourceRule
  readonly dtmf?: DtmfMode | undefined
  /** An offer of the other side was refused with 488, for this reason. */
  readonly onRefused?: (reason: string) => void
}

/** An answered SIP call. It answers offers of the other side (hold, resume, another address). */
export const createSipCallLeg = (
  dialog: Dialog,
  negotiator: MediaNegotiator,
  agreed: AgreedAudio,
  { transfers, sources, dtmf = 'auto', onRefused }: LegSettings,
): CallLeg => {
  const shape = (audio: AgreedAudio): NegotiatedMedia =>
    withDtmf(withMediaSources(audio, sources), dtmf)
  let media = shape(agreed)
  let changes = 0
  let isTransferring = false
  const listeners: ((media: NegotiatedMedia) => void)[] = []
  const report = (audio: AgreedAudio): void => {
    media = shape(audio)
    for (const listener of listeners) listener(media)
  }
  /** The latest description counts, however long the names of earlier ones take to be found. */
  const change = (audio: AgreedAudio): void => {
    const own = (changes += 1)
    const resolved = resolveMedia(audio)
    if (resolved === undefined) return report(audio)
    void resolved.then((found) => {
      if (own === changes) report(found)
    })
  }
  dialog.onOffer((offer) => {
    const answer = negotiator.answer(offer)
    if (answer !== undefined) change(answer.audio)
    else onRefused?.(wantsDtls(offer) ? 'it wants DTLS-SRTP' : 'it has no audio that fits')
    return answer?.sdp
  })
  dialog.onOfferRequest(
    () => negotiator.offer(),
    (answer) => {
      const audio = negotiator.acceptAnswer(answer)
      if (audio !== undefined) change(audio)
    },
  )
  let digitListener: (digit: string) => void = () => {}
  dialog.onRequest('INFO', (request) => {
    const digit = digitOfInfo(request)
    // Some carriers report each key twice; RTP has the exact time.
    const areKeysInRtp = dtmf !== 'info' && media.telephoneEventPayloadType !== undefined
    if (digit !== undefined && !areKeysInRtp) digitListener(digit)
    return 200
  })
  return {
    sipCallId: dialog.sipCallId,
    get media() {
      return media
    },
    onMediaChange: (listener) => {
      listeners.push(listener)
    },
    onDigit: (listener) => {
      digitListener = listener
    },
    sendDigits: (digits) => sendInfoDigits(dialog, digits),
    transfer: async (to) => {
      if (isTransferring) return alreadyTransferring
      isTransferring = true
      try {
        const target = transfers.targetOf(to)
        return await refer(dialog, { target, referredBy: transfers.referredBy })
      } finally {
        isTransferring = false
      }
    },
    hangUp: () => dialog.bye(),
    ended: dialog.ended.then(legEnd),
  }
}

/** A side without telephone-event gets tones in the audio, or INFO. With INFO no key counts twice. */
const withDtmf = (media: NegotiatedMedia, dtmf: DtmfMode): NegotiatedMedia => {
  if (dtmf === 'auto' || dtmf === 'rfc4733') return media
  const { telephoneEventPayloadType: _, ownTelephoneEventPayloadType, ...rest } = media
  const isHeard = dtmf === 'inband' && ownTelephoneEventPayloadType !== undefined
  return { ...rest, ...(isHeard && { ownTelephoneEventPayloadType }), dtmf }
}

const alreadyTransferring: TransferOutcome = {
  kind: 'refused',
  reason: 'A transfer is under way already.',
}

const endedBy = { local: 'us', remote: 'callee', failure: 'failure' } as const

const legEnd = (end: Awaited<Dialog['ended']>): LegEnd => ({
  by: endedBy[end.by],
  ...(end.reason === undefined ? {} : { reason: end.reason }),
})
