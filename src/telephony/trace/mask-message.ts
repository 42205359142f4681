import { maskPhoneNumber } from '../../runtime/logger.ts'
import { bodyText, headerOf, type Header, type SipMessage } from '../../sip/message/message.ts'

/** Headers without people or secrets: shown as they are. */
const plainHeaders = new Set(
  [
    'via call-id cseq max-forwards content-type content-length allow supported require',
    'proxy-require unsupported expires session-expires min-se min-expires user-agent server',
    'date retry-after rseq rack timestamp accept accept-encoding accept-language reason',
    'warning event subscription-state allow-events privacy www-authenticate',
    'proxy-authenticate x-outdial-call-id service-route path refer-sub content-disposition',
  ].flatMap((names) => names.split(' ')),
)

/** Headers with a URI: shown without names, the user of the URI masked. */
const addressHeaders = new Set(
  [
    'from to contact route record-route p-asserted-identity refer-to p-preferred-identity',
    'remote-party-id diversion history-info referred-by',
  ].flatMap((names) => names.split(' ')),
)

const hidden = '***'
/** A body, as it is kept. */
const maxBodyLength = 8_192

/**
 * A SIP message as it may be kept and shown: no number whole, no name, no proof of a password, no media key, no digit
 * that the callee pressed. Its length is that of a real message, so that programs can read it.
 */
export const maskMessage = (message: SipMessage): SipMessage => {
  const headers = message.headers.map(maskHeader)
  const body = Buffer.from(maskBody(message))
  return message.kind === 'request'
    ? { ...message, uri: maskAddresses(message.uri), headers, body }
    : { ...message, headers, body }
}

const maskHeader = ([name, value]: Header): Header => {
  if (plainHeaders.has(name)) return [name, value]
  if (addressHeaders.has(name)) return [name, maskAddresses(withoutName(value))]
  if (name === 'authorization' || name === 'proxy-authorization')
    return [name, `${value.slice(0, 6) === 'Digest' ? 'Digest ' : ''}${hidden}`]
  return [name, hidden]
}

/** `"Zoe Miller" <sip:…>` as `<sip:…>`. */
const withoutName = (value: string): string => {
  const start = value.indexOf('<')
  return start < 0 ? value : value.slice(start)
}

/** A URI up to the end of its user, or a tag, which is kept, or digits that may be a number. */
const maskable = /\b(sips?:|tel:)([^@;>?\s,]+)(@?)|(;tag=[^;>\s]*)|\+?\d(?:[- ]?\d){6,}/gi

const maskAddresses = (text: string): string =>
  text.replace(maskable, (all, scheme?: string, user?: string, at?: string, tag?: string) => {
    if (tag !== undefined) return all
    if (scheme === undefined || user === undefined) return maskPhoneNumber(all)
    // Without `@` it is a host, which has dots or letters.
    if (at === '' && !/^[+\d-]{5,}$/.test(user)) return all
    return `${scheme}${maskUser(user)}${at ?? ''}`
  })

const maskUser = (user: string): string =>
  /\d{5}/.test(user) ? maskPhoneNumber(user) : `${user.slice(0, 1)}${hidden}`

const maskBody = (message: SipMessage): string => {
  if (message.body.length === 0) return ''
  const type = (headerOf(message, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/sdp') return maskSdp(bodyText(message).slice(0, maxBodyLength))
  // The result of a transfer (RFC 3515).
  const firstLine = bodyText(message).split(/\r?\n/, 1)[0] ?? ''
  if (type === 'message/sipfrag' && /^SIP\/2\.0 \d{3}/.test(firstLine))
    return `${maskAddresses(firstLine.slice(0, 200))}\r\n`
  return `(${message.body.length} bytes that are not kept)`
}

/** `a=crypto:1 SUITE inline:KEY|…` without what follows `inline:`. */
const withoutKey = (line: string): string => {
  const start = line.indexOf('inline:')
  return start < 0 ? `a=crypto:${hidden}` : `${line.slice(0, start)}inline:${hidden}`
}

const maskSdp = (sdp: string): string =>
  sdp
    .split(/\r?\n/)
    .map((line) => {
      if (/^[siuepk]=/.test(line)) return `${line.slice(0, 2)}${hidden}`
      if (line.startsWith('o=')) return line.replace(/^o=\S*/, 'o=-')
      if (line.startsWith('a=crypto:')) return withoutKey(line)
      if (/^a=(?:ice-pwd|ice-ufrag|key-mgmt|identity):/.test(line))
        return `${line.split(':', 1)[0]}:${hidden}`
      return line
    })
    .join('\r\n')
