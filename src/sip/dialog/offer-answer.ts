import { bodyText, type SipRequest } from '../message/message.ts'

/** Handles offers inside a dialog, and knows whether one of ours is pending (RFC 3264 4, RFC 6337). */
export interface OfferAnswer {
  onOffer: ((offer: string) => string | undefined) | undefined
  onOfferRequest: (() => string) | undefined
  onAnswer: ((answer: string) => void) | undefined
  /** Whether our own offer waits for its answer: the other side's must be refused with 491. */
  isPending: boolean
  /**
   * The SDP of our 2xx to a re-INVITE or UPDATE: an answer, an offer, or '' if none belongs there; `undefined` to
   * refuse with 488.
   */
  respondTo(request: SipRequest, localSdp: string): string | undefined
  /** The answer to the offer in our 2xx. */
  takeAnswer(answer: string): void
}

export const createOfferAnswer = (): OfferAnswer => {
  const offers: OfferAnswer = {
    onOffer: undefined,
    onOfferRequest: undefined,
    onAnswer: undefined,
    isPending: false,
    respondTo: (request, localSdp) => {
      if (request.body.length > 0) return offers.onOffer?.(bodyText(request))
      // An UPDATE without SDP only refreshes; a re-INVITE without SDP asks for our offer.
      return request.method === 'UPDATE' ? '' : (offers.onOfferRequest?.() ?? localSdp)
    },
    takeAnswer: (answer) => {
      offers.onAnswer?.(answer)
    },
  }
  return offers
}
