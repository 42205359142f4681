import type { AgreedAudio, MediaNegotiator } from '../sdp/sdp.ts'
import type { Dialog } from '../sip/dialog/dialog.ts'
import type { CallLeg, LegEnd, NegotiatedMedia, TransferOutcome } from './carrier.ts'
import { digitOfInfo } from './info-digit.ts'
import { withMediaSources, type MediaSourceRule } from './media-sources.ts'
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
}

/** An answered SIP call. It answers offers of the other side (hold, resume, another address). */
export const createSipCallLeg = (
  dialog: Dialog,
  negotiator: MediaNegotiator,
  agreed: AgreedAudio,
  { transfers, sources }: LegSettings,
): CallLeg => {
  let media = withMediaSources(agreed, sources)
  let isTransferring = false
  const listeners: ((media: NegotiatedMedia) => void)[] = []
  const change = (audio: AgreedAudio): void => {
    media = withMediaSources(audio, sources)
    for (const listener of listeners) listener(media)
  }
  dialog.onOffer((offer) => {
    const answer = negotiator.answer(offer)
    if (answer !== undefined) change(answer.audio)
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
    if (digit !== undefined && media.telephoneEventPayloadType === undefined) digitListener(digit)
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

const alreadyTransferring: TransferOutcome = {
  kind: 'refused',
  reason: 'A transfer is under way already.',
}

const endedBy = { local: 'us', remote: 'callee', failure: 'failure' } as const

const legEnd = (end: Awaited<Dialog['ended']>): LegEnd => ({
  by: endedBy[end.by],
  ...(end.reason === undefined ? {} : { reason: end.reason }),
})
