import type { SipRequest, SipResponse } from '../message/message.ts'

/** An established INVITE dialog, of either role. */
export interface Dialog {
  readonly sipCallId: string
  /** The address with which the dialog was made: the destination or source of its INVITE. */
  readonly firstHop?: string | undefined
  /** The SDP that came from the other side (offer or answer). */
  readonly remoteSdp: string
  /** A re-INVITE or UPDATE with an offer: the listener returns our answer, or `undefined` for 488. */
  onOffer(listener: (offer: string) => string | undefined): void
  /** A re-INVITE without SDP (delayed offer): the listener returns our offer, and later gets the answer from the ACK. */
  onOfferRequest(listener: () => string, onAnswer: (answer: string) => void): void
  /** A re-INVITE with our new offer; the answer is in the 2xx. Resolves with the final response, `undefined` on timeout. */
  reinvite(offer: string): Promise<SipResponse | undefined>
  /** Sends BYE; resolves when it has a response or timed out. Safe twice. */
  bye(headers?: Readonly<Record<string, string>>): Promise<void>
  /** Any other request inside the dialog (INFO, REFER, UPDATE); resolves with the final response, `undefined` on timeout. */
  request(
    method: string,
    options: { headers?: Readonly<Record<string, string>>; body?: string },
  ): Promise<SipResponse | undefined>
  /**
   * Handles the other side's requests of one method (NOTIFY, REFER, INFO): the listener returns the status of the
   * response. Without one INFO and NOTIFY get 200, REFER 405. At most one listener for a method.
   */
  onRequest(method: DialogMethod, listener: (request: SipRequest) => number): void
  /** Resolves once, when the dialog is over. */
  readonly ended: Promise<{ readonly by: 'local' | 'remote' | 'failure'; readonly reason?: string }>
}

/** The events inside a dialog. */
export type DialogMethod = 'INFO' | 'NOTIFY' | 'REFER'
