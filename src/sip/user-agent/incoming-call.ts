import { allowedMethods, type AgentContext } from '../dialog/agent-context.ts'
import { contactHeader } from '../transaction/hop.ts'
import { calleeDialog } from '../dialog/dialog-state.ts'
import { InviteDialog } from '../dialog/invite-dialog.ts'
import { bodyText, type Header, type SipRequest } from '../message/message.ts'
import { createResponse, newTag, type ResponseOptions } from '../message/responses.ts'
import { respond, type ServerTransaction } from '../transaction/server-transaction.ts'
import { termsHeaders, termsOfRequest } from '../dialog/session-timer.ts'
import type { Source } from '../transport/transport.ts'
import type { IncomingInvite } from './user-agent-types.ts'
import type { Dialog } from '../dialog/dialog.ts'

/** A 100 is sent only where nothing else was by then (RFC 3261 17.2.1): a refusal at once is one datagram. */
const tryingMs = 200

/** One incoming call: the callee's side of an INVITE until its final response is acknowledged (RFC 3261 13.3). */
export class IncomingCall implements IncomingInvite {
  readonly offer: string | undefined
  readonly source: Source
  readonly cancelled: AbortSignal
  readonly #context: AgentContext
  readonly #transaction: ServerTransaction
  readonly #onFinal: () => void
  readonly #cancellation = new AbortController()
  readonly #tag = newTag()
  readonly #cancelTrying: () => void
  #isFinal = false
  #contact: Header[] = []

  constructor(
    context: AgentContext,
    transaction: ServerTransaction,
    options: { readonly source: Source; readonly onFinal: () => void },
  ) {
    this.#context = context
    this.#transaction = transaction
    this.source = options.source
    this.#onFinal = options.onFinal
    this.cancelled = this.#cancellation.signal
    this.offer = this.request.body.length === 0 ? undefined : bodyText(this.request)
    this.#cancelTrying = context.time.after(tryingMs, () => {
      respond(transaction, 100)
    })
  }

  get request(): SipRequest {
    return this.#transaction.request
  }

  get isFinal(): boolean {
    return this.#isFinal
  }

  /** Finds our address towards the caller, for our Contact. */
  async prepare(): Promise<void> {
    this.#contact = [contactHeader(await this.#context.signalling.hopTo(this.source))]
  }

  provisional(status: number, reason: string, options: { sdp?: string } = {}): void {
    if (this.#isFinal) return
    const body = options.sdp === undefined ? {} : { body: options.sdp }
    this.#respond(status, { reason, headers: this.#contact, ...body })
  }

  async accept(sdp: string): Promise<Dialog | undefined> {
    if (this.#isFinal) return undefined
    this.#close()
    const state = calleeDialog(this.request, this.#tag)
    const dialog = new InviteDialog(this.#context, {
      state,
      remoteSdp: this.offer ?? '',
      firstHop: this.source.address,
    })
    const success = createResponse(this.request, 200, {
      toTag: this.#tag,
      headers: this.#successHeaders(),
      body: sdp,
    })
    const isAcknowledged = await dialog.confirmAsCallee(this.#transaction, success)
    return isAcknowledged ? dialog : undefined
  }

  reject(status: number, reason: string, headers: Readonly<Record<string, string>> = {}): void {
    if (this.#isFinal) return
    this.#close()
    const extra = Object.entries(headers).map(([name, value]): Header => [
      name.toLowerCase(),
      value,
    ])
    this.#respond(status, { reason, headers: extra })
  }

  /** The caller's CANCEL came: 487, unless our final response was first (RFC 3261 9.2). */
  cancel(): void {
    if (this.#isFinal) return
    this.reject(487, 'Request Terminated')
    this.#cancellation.abort()
  }

  #close(): void {
    this.#isFinal = true
    this.#cancelTrying()
    this.#onFinal()
  }

  #respond(status: number, options: ResponseOptions): void {
    this.#cancelTrying()
    this.#transaction.respond(
      createResponse(this.request, status, { ...options, toTag: this.#tag }),
    )
  }

  #successHeaders(): Header[] {
    const terms = termsOfRequest(this.request, this.#context.sessionTimer)
    return [
      ...this.#contact,
      ['allow', allowedMethods],
      ['supported', 'timer'],
      ...termsHeaders(this.request, terms),
    ]
  }
}
