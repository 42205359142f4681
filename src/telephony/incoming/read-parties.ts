import { readNameAddress } from '../../sip/message/headers.ts'
import { headerOf, headersOf, type SipRequest } from '../../sip/message/message.ts'
import { parseSipUri } from '../../sip/message/uri.ts'

/** A number as a trunk wrote it. */
export interface WrittenParty {
  readonly text: string
  /** What it is in E.164, if it has its calling code; several where its prefix can be read in two ways. */
  readonly e164: readonly string[]
}

/** More is no number, whatever its notation. */
const maxCharacters = 64

/**
 * The numbers that an INVITE is for: of the Request-URI, else as the network knows it (RFC 7315 4.2), else as the caller
 * wrote it. A trunk that registers is called by its account in the first, and by the number in one of the others.
 */
export const readCalled = (request: SipRequest): readonly WrittenParty[] => {
  const uris = [
    request.uri,
    uriOf(headerOf(request, 'p-called-party-id')),
    uriOf(headerOf(request, 'to')),
  ]
  return uris.flatMap((uri) => {
    const user = userOf(uri ?? '')
    return user === undefined ? [] : [{ text: user, e164: readE164(user) }]
  })
}

/**
 * The caller's number, as the network asserts it, else as From has it. Undefined where the caller withholds it: then the
 * trunk's knowledge of it is not for people (RFC 3323, RFC 3325 9.3).
 */
export const readCaller = (request: SipRequest): string | undefined => {
  const privacy = headersOf(request, 'privacy').join(';').toLowerCase()
  if (/\b(?:id|user|header)\b/.test(privacy)) return undefined
  const uris = [...headersOf(request, 'p-asserted-identity'), headerOf(request, 'from')]
  for (const value of uris) {
    const user = userOf(uriOf(value) ?? '')
    if (user === undefined || /^(?:anonymous|restricted|unavailable|unknown)$/i.test(user)) continue
    // Digits without a prefix may be of any country: they stay as they are.
    return readE164(user).find((number) => number !== `+${user}`) ?? user
  }
  return undefined
}

const uriOf = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : readNameAddress(value)?.uri

/** The user of a SIP URI, or the number of a tel URI, without parameters; decoded. */
const userOf = (uri: string): string | undefined => {
  const written = /^tel:/i.test(uri) ? uri.slice('tel:'.length) : parseSipUri(uri)?.user
  const [number = ''] = (written ?? '').split(';')
  const user = decode(number)
  return user === undefined || user === '' || user.length > maxCharacters ? undefined : user
}

/** Undefined for malformed escapes, and for characters that no number and no account has. */
const decode = (text: string): string | undefined => {
  try {
    const user = decodeURIComponent(text)
    return /[\p{Cc}\p{Cs}<>"]/u.test(user) ? undefined : user
  } catch {
    return undefined
  }
}

const isE164 = (text: string): boolean => /^\+[1-9]\d{6,14}$/.test(text)

/** Prefixes of international calls that trunks leave in front: 00 in most countries, 011 in North America; or none. */
const readE164 = (user: string): readonly string[] => {
  const plain = user.replaceAll(/[-.() ]/g, '')
  const readings = plain.startsWith('+')
    ? [plain]
    : [plain.replace(/^00/, '+'), plain.replace(/^011/, '+'), `+${plain}`]
  return [...new Set(readings.filter(isE164))]
}
