import { z } from 'zod'

/* What happens to a person who calls one of our numbers, written as in `OUTDIAL_CALLS_BACK`. */

/** What a caller gets. */
export type CallBackAnswer =
  | { readonly kind: 'decline'; readonly status: DeclineStatus }
  | { readonly kind: 'message'; readonly text: string }
  /** E.164, or a SIP address. */
  | { readonly kind: 'forward'; readonly to: string }

/** Busy, not there now, and not wanted: what carriers make of a refusal differs by these. */
const declineStatuses = [480, 486, 603] as const

type DeclineStatus = (typeof declineStatuses)[number]

/** A minute and more of speech. */
const maxMessageLength = 1_000
const maxTargetLength = 255

const form =
  'It must be decline, decline:480, decline:486, decline:603, message:TEXT, or forward: with an E.164 number or a SIP address.'

/** Parses `decline[:status]`, `message:TEXT` or `forward:TARGET`; a sentence for other text. */
export const readCallBackAnswer = (written: string): CallBackAnswer | string => {
  const colon = written.indexOf(':')
  const kind = colon < 0 ? written : written.slice(0, colon)
  const rest = colon < 0 ? '' : written.slice(colon + 1).trim()
  if (kind === 'decline') return readDecline(colon < 0 ? '603' : rest)
  if (kind === 'message') return readMessage(rest)
  return kind === 'forward' ? readForward(rest) : form
}

const readDecline = (written: string): CallBackAnswer | string => {
  const status = declineStatuses.find((each) => String(each) === written)
  return status === undefined
    ? `A call is declined with one of ${declineStatuses.join(', ')}.`
    : { kind: 'decline', status }
}

const readMessage = (text: string): CallBackAnswer | string => {
  if (text === '') return 'A message needs a text: message:We will call you again.'
  if (text.length > maxMessageLength)
    return `A message has at most ${maxMessageLength} characters, which is a minute of speech.`
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return 'A message is one line without control characters.'
  return { kind: 'message', text }
}

const sipAddress =
  /^sips?:[A-Za-z0-9+*#._-]{1,64}@(?:\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)(?::\d{1,5})?(?:;transport=(?:udp|tcp|tls))?$/

const readForward = (to: string): CallBackAnswer | string =>
  to.length <= maxTargetLength && (/^\+[1-9]\d{6,14}$/.test(to) || sipAddress.test(to))
    ? { kind: 'forward', to }
    : 'A call is forwarded to an E.164 number such as +12025550123, or to sip:user@host[:port].'

/** The text as it is kept, once it was read. */
export const callBackAnswerText = z.string().superRefine((written, check) => {
  const read = readCallBackAnswer(written)
  if (typeof read === 'string') check.addIssue({ code: 'custom', message: read })
})

/** What was done with a call back. */
export const callBackResults = [
  'declined',
  'message',
  'forwarded',
  'unknown_number',
  'busy',
  'cancelled',
  'failed',
] as const

export type CallBackResult = (typeof callBackResults)[number]
