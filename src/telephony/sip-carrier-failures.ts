import { parseDelaySeconds, reasonCause } from '../sip/message/headers.ts'
import { headerOf, type SipResponse } from '../sip/message/message.ts'
import { reasonPhrases } from '../sip/message/responses.ts'
import type { InviteResult } from '../sip/user-agent/user-agent-types.ts'
import { readAudio, wantsDtls, type SrtpPolicy } from '../sdp/read-sdp.ts'
import type { DialFailure, DialFailureCause } from './carrier.ts'

type Unanswered = Exclude<InviteResult, { readonly kind: 'answered' }>

/** What an unanswered attempt means for the call (decisions D3 and D14). */
export const failedDial = (
  result: Unanswered,
  ringTimeoutMs: number,
  areCredentialsProven = false,
): DialFailure => {
  switch (result.kind) {
    case 'refused':
      return result.isAuthorized === true && !result.rang && !areCredentialsProven
        ? refusedWithPassword(result.response)
        : refused(result.response, result.rang)
    case 'ring_timeout':
      return ringTimeout(result, ringTimeoutMs)
    case 'cancelled':
      return {
        cause: 'cancelled',
        reason: 'The call was cancelled before it was answered.',
        rang: result.rang,
        invited: result.invited,
      }
    case 'unreachable':
      return {
        cause: 'no_route',
        reason: unreachableReason(result.reason),
        rang: result.rang,
        invited: result.invited,
      }
    case 'not_sent':
      return {
        cause: 'not_sent',
        reason: 'Nothing was sent: this node no longer held the call.',
        rang: false,
        invited: false,
      }
  }
}

/** One sentence; `fault` is a clause. */
export const unreachableReason = (fault: string): string =>
  `The SIP trunk could not be reached: ${printable(fault)}.`

/** A 200 whose SDP has no supported codec: it was acknowledged and hung up. */
export const mediaMismatch = (answer: string, srtp: SrtpPolicy = 'off'): DialFailure => ({
  cause: 'media_mismatch',
  sipStatus: 200,
  reason: `SIP 200 OK, but ${mismatchOf(answer, srtp)}.`,
  rang: true,
  invited: true,
})

/** Why no audio of this description can be used, as a clause. */
const mismatchOf = (description: string, srtp: SrtpPolicy = 'off'): string => {
  if (wantsDtls(description))
    return 'the answer wants DTLS-SRTP, which is not supported: set the trunk to SDES'
  if (srtp === 'required' && readAudio(description) !== undefined)
    return 'the answer has no key for SRTP, which the trunk requires'
  return srtp === 'off' && readAudio(description, 'required') !== undefined
    ? 'the answer requires SRTP, which is off for the trunk'
    : 'the answer has no audio codec in common with ours'
}

/**
 * Some servers send 403 for a wrong password instead of another challenge; others for a forbidden number. In the
 * second case a call to another number shows that the password is right.
 */
const refusedWithPassword = (response: SipResponse): DialFailure =>
  response.status === 403
    ? {
        cause: 'authentication',
        sipStatus: response.status,
        reason: sentence(response, explanations.authentication),
        rang: false,
        invited: true,
      }
    : refused(response, false)

/** Whether the trunk accepted the password in this INVITE. */
export const provesCredentials = (result: InviteResult): boolean =>
  result.kind === 'refused' &&
  result.isAuthorized === true &&
  ![401, 403, 407].includes(result.response.status)

const refused = (response: SipResponse, rang: boolean): DialFailure => {
  const cause = causeOf(response, rang)
  const retryAfterSeconds = parseDelaySeconds(headerOf(response, 'retry-after'))
  return {
    cause,
    sipStatus: response.status,
    reason: sentence(response, explanations[cause]),
    rang,
    invited: true,
    ...(cause === 'congestion' && retryAfterSeconds !== undefined
      ? { retryAfterMs: retryAfterSeconds * 1000 }
      : {}),
  }
}

const causes: ReadonlyMap<number, DialFailureCause> = new Map([
  [486, 'busy'],
  [600, 'busy'],
  [603, 'busy'],
  [408, 'no_answer'],
  [480, 'no_answer'],
  [401, 'authentication'],
  [407, 'authentication'],
  [415, 'media_mismatch'],
  [488, 'media_mismatch'],
  [606, 'media_mismatch'],
])

const causeOf = (response: SipResponse, rang: boolean): DialFailureCause =>
  isCongestion(response, rang) ? 'congestion' : (causes.get(response.status) ?? 'rejected')

// Only before any 18x: afterwards the phone may have rung, and dialling again would ring it twice (D3, D14).
const isCongestion = (response: SipResponse, rang: boolean): boolean =>
  !rang &&
  (response.status === 503 ||
    (response.status === 500 && headerOf(response, 'retry-after') !== undefined))

const explanations: Readonly<Record<DialFailureCause, string>> = {
  busy: 'the callee is busy or declined the call',
  no_answer: 'nobody answered',
  cancelled: 'the call was cancelled',
  congestion: 'the carrier has no room for the call now',
  rejected: 'the carrier refused the call',
  authentication: "the carrier refused the trunk's credentials",
  no_route: 'the trunk could not be reached',
  media_mismatch: 'the carrier takes none of our audio formats',
  not_sent: 'nothing was sent',
}

const ringTimeout = (
  { response, rang }: Extract<Unanswered, { readonly kind: 'ring_timeout' }>,
  ringTimeoutMs: number,
): DialFailure => {
  const explanation = `nobody answered within ${Math.round(ringTimeoutMs / 1000)} seconds`
  const reason =
    response === undefined
      ? `${explanation.slice(0, 1).toUpperCase()}${explanation.slice(1)}.`
      : sentence(response, explanation)
  const sipStatus = response === undefined ? {} : { sipStatus: response.status }
  return { cause: 'no_answer', ...sipStatus, reason, rang, invited: true }
}

/** `SIP 404 Not Found (Q.850 cause 1, "Unallocated"): the carrier refused the call.` */
const sentence = (response: SipResponse, explanation: string): string => {
  const standard = reasonPhrases[response.status]
  const said = printable(response.reason)
  const q850 = reasonCause(response, 'Q.850')
  const details = [
    ...(q850 === undefined ? [] : [`Q.850 cause ${q850}`]),
    ...(standard === undefined || said === '' || isSameText(said, standard) ? [] : [`"${said}"`]),
  ]
  const note = details.length === 0 ? '' : ` (${details.join(', ')})`
  const phrase = standard ?? said
  return `SIP ${response.status}${phrase === '' ? '' : ` ${phrase}`}${note}: ${explanation}.`
}

const isSameText = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const maxQuotedCharacters = 100

/** Foreign text, made fit for one sentence: no control characters or quotes, and short. */
const printable = (text: string): string =>
  text
    .replace(/[\p{C}\s"]+/gu, ' ')
    .trim()
    .slice(0, maxQuotedCharacters)
