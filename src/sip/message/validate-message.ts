import { headerOf, headersOf, type SipMessage } from './message.ts'
import { parseCSeq, parseNameAddress, parseVia, readNameAddress, tagOf } from './headers.ts'
import { parseSipUri, schemeOf } from './uri.ts'

/** Why a message may not be processed, and the status for its sender. */
interface MessageFault {
  readonly status: number
  readonly reason: string
}

/**
 * The requirements of RFC 3261 8.1.1 and 16.3 for every message, before its meaning is processed.
 * `bytesAfterHeader` is what arrived after the empty line.
 */
export const faultOf = (
  message: SipMessage,
  bytesAfterHeader: number,
): MessageFault | undefined => {
  for (const check of checksFor(message)) {
    const reason = check(message, bytesAfterHeader)
    if (reason !== undefined) return { status: 400, reason }
  }
  return undefined
}

type Check = (message: SipMessage, bytesAfterHeader: number) => string | undefined

const mandatory = ['via', 'from', 'to', 'call-id', 'cseq'] as const
const single = ['from', 'to', 'call-id', 'cseq', 'max-forwards', 'content-length'] as const

const everyMandatoryHeader: Check = (message) => {
  const missing = mandatory.find((name) => headerOf(message, name) === undefined)
  return missing === undefined ? undefined : `${missing} is missing`
}

const noRepeatedHeader: Check = (message) => {
  const repeated = single.find((name) => headersOf(message, name).length > 1)
  return repeated === undefined ? undefined : `${repeated} is repeated`
}

const readableVias: Check = (message) =>
  headersOf(message, 'via').every((value) => parseVia(value) !== undefined)
    ? undefined
    : 'a Via cannot be read'

const readableAddresses: Check = (message) => {
  for (const name of ['from', 'to', 'contact', 'route', 'record-route']) {
    for (const value of headersOf(message, name)) {
      const isStar = name === 'contact' && value === '*'
      if (!isStar && parseNameAddress(value) === undefined) return `${name} cannot be read`
    }
  }
  return undefined
}

/** From and To identify the dialog, whatever their display names are. */
const readableEnds: Check = (message) => {
  const unreadable = (['from', 'to'] as const).find(
    (name) => readNameAddress(headerOf(message, name) ?? '') === undefined,
  )
  return unreadable === undefined ? undefined : `${unreadable} cannot be read`
}

const noRepeatedIdentity: Check = (message) => {
  const repeated = identity.find((name) => headersOf(message, name).length > 1)
  return repeated === undefined ? undefined : `${repeated} is repeated`
}

const readableTopVia: Check = (message) =>
  parseVia(headerOf(message, 'via') ?? '') === undefined ? 'the Via cannot be read' : undefined

const matchingCSeq: Check = (message) => {
  const cseq = parseCSeq(headerOf(message, 'cseq') ?? '')
  if (cseq === undefined) return 'cseq cannot be read'
  if (message.kind === 'request' && cseq.method !== message.method)
    return 'cseq names another method'
  return undefined
}

const wholeBody: Check = (message, bytesAfterHeader) => {
  const length = headerOf(message, 'content-length')
  if (length === undefined) return undefined
  if (!/^\d{1,9}$/.test(length)) return 'content-length cannot be read'
  return Number(length) > bytesAfterHeader ? 'the body is shorter than content-length' : undefined
}

const smallMaxForwards: Check = (message) => {
  const hops = headerOf(message, 'max-forwards')
  if (hops === undefined || (/^\d{1,9}$/.test(hops) && Number(hops) <= 255)) return undefined
  return 'max-forwards cannot be read'
}

const readableCallId: Check = (message) => {
  const sipCallId = headerOf(message, 'call-id') ?? ''
  return sipCallId !== '' && sipCallId.length <= 256 && !/\s/.test(sipCallId)
    ? undefined
    : 'call-id cannot be read'
}

const readableRequestUri: Check = (message) => {
  if (message.kind === 'response') return undefined
  const scheme = schemeOf(message.uri)
  const isSip = scheme === 'sip' || scheme === 'sips'
  const isReadable = isSip ? parseSipUri(message.uri) !== undefined : !/[<>"]/.test(message.uri)
  return scheme === undefined || !isReadable ? 'the request URI cannot be read' : undefined
}

const identity = ['from', 'to', 'call-id', 'cseq'] as const

/**
 * A refused response, or a refused BYE, is a call that hangs in the air: only what identifies its transaction and its
 * dialog must be readable there.
 */
const checksFor = (message: SipMessage): readonly Check[] => {
  if (message.kind === 'response') return checksOfResponse
  return message.method !== 'INVITE' && tagOf(message, 'to') !== undefined ? checksInDialog : checks
}

const checksOfResponse: readonly Check[] = [
  everyMandatoryHeader,
  noRepeatedIdentity,
  readableTopVia,
  matchingCSeq,
  readableCallId,
  readableEnds,
]

const checks: readonly Check[] = [
  everyMandatoryHeader,
  noRepeatedHeader,
  readableVias,
  matchingCSeq,
  readableCallId,
  wholeBody,
  readableRequestUri,
  readableAddresses,
  smallMaxForwards,
]

const checksInDialog: readonly Check[] = checks.map((check) =>
  check === readableAddresses ? readableEnds : check,
)
