import { parseNameAddress } from '../sip/message/headers.ts'
import { splitOutsideQuotes } from '../sip/message/header-syntax.ts'
import { bodyText, headerOf, type SipRequest, type SipResponse } from '../sip/message/message.ts'
import type { Dialog } from '../sip/dialog/dialog.ts'
import type { TransferOutcome } from './carrier.ts'

interface ReferOptions {
  /** The target that the other side shall call. */
  readonly target: string
  /** The referrer (RFC 3892). */
  readonly referredBy: string
  /** How long the target may take to answer; a minute of ringing plus some signalling by default. */
  readonly answerTimeoutMs?: number
}

const defaultAnswerTimeoutMs = 75_000

/**
 * Asks the other side of a dialog to call the target (RFC 3515) and waits for the final result: a final status in a
 * NOTIFY, a BYE (many carriers simply take the callee away), or a timeout. Never rejects.
 */
export const refer = async (
  dialog: Dialog,
  { target, referredBy, answerTimeoutMs = defaultAnswerTimeoutMs }: ReferOptions,
): Promise<TransferOutcome> => {
  if (!isPlainAddress(target)) return refused('The target is no plain SIP address.')
  const settled = Promise.withResolvers<TransferOutcome>()
  let isAccepted = false
  // A NOTIFY may overtake the response to its REFER (RFC 3515 2.4.4).
  dialog.onRequest('NOTIFY', (request) => {
    const outcome = outcomeOfNotify(request)
    if (outcome !== undefined) settled.resolve(outcome)
    return 200
  })
  void dialog.ended.then(({ by }) =>
    settled.resolve(isAccepted && by === 'remote' ? transferred : refused('The call ended.')),
  )
  const response = await dialog.request('REFER', {
    headers: { 'Refer-To': `<${target}>`, 'Referred-By': `<${referredBy}>` },
  })
  if (response === undefined) return refused('The carrier did not answer the transfer.')
  if (response.status < 200 || response.status > 299) return refusedBy(response)
  isAccepted = true
  if (isWithoutSubscription(response)) return transferred
  const limit = setTimeout(
    () => settled.resolve(refused('The transfer was not answered in time.')),
    answerTimeoutMs,
  )
  const outcome = await settled.promise
  clearTimeout(limit)
  return outcome
}

/**
 * No character may end the brackets of Refer-To, add header fields to the far end's request (RFC 3261 19.1.1) or
 * parameters to its URI. The policy check already ensures that; this checks again before sending.
 */
const isPlainAddress = (target: string): boolean =>
  /^sips?:[A-Za-z0-9+._-]{1,64}@[A-Za-z0-9._:[\]-]{1,255}(?:;transport=(?:udp|tcp|tls))?$/.test(
    target,
  )

const transferred: TransferOutcome = { kind: 'transferred' }

const refused = (reason: string): TransferOutcome => ({ kind: 'refused', reason })

const refusedBy = ({ status, reason }: { status: number; reason: string }): TransferOutcome => ({
  kind: 'refused',
  sipStatus: status,
  reason: `SIP ${status} ${reason}`.trim(),
})

/** RFC 4488: the other side will send no notification, so accepting the request is the final result. */
const isWithoutSubscription = (response: SipResponse): boolean =>
  headerOf(response, 'refer-sub')?.trim().toLowerCase() === 'false'

/** `undefined` while the target has neither answered nor refused. */
const outcomeOfNotify = (request: SipRequest): TransferOutcome | undefined => {
  const [event = ''] = splitOutsideQuotes(headerOf(request, 'event') ?? '', ';')
  if (event.trim().toLowerCase() !== 'refer') return undefined
  const status = parseSipfrag(bodyText(request))
  if (status !== undefined && status.status >= 300) return refusedBy(status)
  if (status !== undefined && status.status >= 200) return transferred
  return isTerminated(request) ? refused('The carrier gave the transfer up.') : undefined
}

/** RFC 6665 8.2.3. */
const isTerminated = (request: SipRequest): boolean => {
  const [state = ''] = splitOutsideQuotes(headerOf(request, 'subscription-state') ?? '', ';')
  return state.trim().toLowerCase() === 'terminated'
}

/** The status line of a `message/sipfrag` (RFC 3420); `undefined` without one. */
export const parseSipfrag = (body: string): { status: number; reason: string } | undefined => {
  const match = /^\s*SIP\/2\.0 +([1-6]\d\d)(?: +([^\r\n]{0,200}))?/i.exec(body)
  return match === null ? undefined : { status: Number(match[1]), reason: (match[2] ?? '').trim() }
}

/** The target URI of a REFER; `undefined` if it has no readable one. */
export const referTargetOf = (request: SipRequest): string | undefined => {
  const value = headerOf(request, 'refer-to')
  return value === undefined ? undefined : parseNameAddress(value)?.uri
}
