import type { AgreedAudio, MediaNegotiator } from '../sip/sdp.ts'
import type { Dialog } from '../sip/user-agent-types.ts'
import type { CallLeg, LegEnd, NegotiatedMedia } from './carrier.ts'

/** An answered SIP call. Offers of the other side (hold, resume, another address) are answered here. */
export const createSipCallLeg = (
  dialog: Dialog,
  negotiator: MediaNegotiator,
  agreed: AgreedAudio,
): CallLeg => {
  let media: NegotiatedMedia = agreed
  const listeners: ((media: NegotiatedMedia) => void)[] = []
  const change = (audio: AgreedAudio): void => {
    media = audio
    for (const listener of listeners) listener(audio)
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
  return {
    sipCallId: dialog.sipCallId,
    get media() {
      return media
    },
    onMediaChange: (listener) => {
      listeners.push(listener)
    },
    hangUp: () => dialog.bye(),
    ended: dialog.ended.then(legEnd),
  }
}

const endedBy = { local: 'us', remote: 'callee', failure: 'failure' } as const

const legEnd = (end: Awaited<Dialog['ended']>): LegEnd => ({
  by: endedBy[end.by],
  ...(end.reason === undefined ? {} : { reason: end.reason }),
})
