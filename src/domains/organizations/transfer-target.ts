import { isIPv6 } from 'node:net'

/**
 * A transfer target, parsed from the notations of SIP and tel URIs. `host` with its port and `transport` are absent
 * if the trunk decides.
 */
export type TransferTarget = (
  | {
      readonly kind: 'number'
      /** Digits without separators. */
      readonly digits: string
      /** They begin with a calling code: written with `+`, or in the context of such a number. */
      readonly isInternational: boolean
    }
  | {
      readonly kind: 'extension'
      readonly user: string
    }
) & {
  readonly scheme: 'sip' | 'sips' | 'tel'
  readonly host?: string
  readonly transport?: string
}

/** A sentence for the administrator. */
interface UnreadableTarget {
  readonly problem: string
}

/** From this many digits on a user part is a telephone number and not an extension. */
export const leastDigitsOfNumber = 7
const maxDigits = 20
const maxLength = 255

/**
 * Parses a transfer's target: `+12025550123`, `tel:…`, `sip:…` or `sips:…`. Escapes are decoded and visual
 * separators removed, so that every notation of a number gives the same number. Anything beyond an address is
 * refused: passwords, header fields, parameters without a meaning here.
 */
export const readTransferTarget = (text: string): TransferTarget | UnreadableTarget => {
  if (text.length > maxLength) return { problem: `It must have at most ${maxLength} characters.` }
  const scheme = text.startsWith('+') ? 'tel' : text.slice(0, text.indexOf(':')).toLowerCase()
  if (scheme !== 'sip' && scheme !== 'sips' && scheme !== 'tel') return { problem: form }
  if (/[^!-~]/.test(text) || /[<>"\\^`{|}?#]/.test(text)) return { problem: badCharacter }
  const rest = text.startsWith('+') ? text : text.slice(text.indexOf(':') + 1)
  return scheme === 'tel' ? readUser('tel', rest) : readSip(scheme, rest)
}

const form =
  'It must be an E.164 number, such as "+12025550123", a SIP address of one, or an extension, such as "sip:200@pbx.example.com".'
const badCharacter = 'It holds a character that has no place in an address.'

const readSip = (scheme: 'sip' | 'sips', text: string): TransferTarget | UnreadableTarget => {
  const [userinfo = '', address, ...more] = text.split('@')
  if (address === undefined || userinfo === '' || more.length > 0) {
    return { problem: 'A SIP address here is "sip:", a user, "@" and a host.' }
  }
  if (userinfo.includes(':')) return { problem: 'A password has no place in it.' }
  const [host = '', ...parameters] = address.split(';')
  if (!isHostPort(host)) return { problem: 'Its host is neither a name nor an address.' }
  const read = readUriParameters(parameters)
  if ('problem' in read) return read
  const user = readUser(scheme, userinfo)
  if ('problem' in user) return user
  if (read.isPhone && user.kind === 'extension')
    return { problem: `"user=phone" needs a number of at least ${leastDigitsOfNumber} digits.` }
  return { ...user, host, ...(read.transport !== undefined && { transport: read.transport }) }
}

const readUriParameters = (
  parameters: readonly string[],
): { readonly transport?: string; readonly isPhone: boolean } | UnreadableTarget => {
  let transport: string | undefined
  let isPhone = false
  for (const parameter of parameters) {
    const written = parameter.toLowerCase()
    if (/^transport=(?:udp|tcp|tls)$/.test(written) && transport === undefined)
      transport = written.slice('transport='.length)
    else if (written === 'user=phone') isPhone = true
    else return { problem: 'Of parameters it may have "transport" and "user=phone" only.' }
  }
  return { isPhone, ...(transport !== undefined && { transport }) }
}

/** `+1-900-555-1234`, `5551234;phone-context=+1900`, `desk`. */
const readUser = (
  scheme: TransferTarget['scheme'],
  text: string,
): TransferTarget | UnreadableTarget => {
  const [written = '', ...parameters] = text.split(';')
  const context = readContext(parameters)
  if (typeof context !== 'string') return context
  const user = unescape(written)
  if (user === undefined) return { problem: badCharacter }
  const plain = user.replace(/[-.() ]/g, '')
  if (/^\+?[0-9]+$/.test(plain)) return readNumber(scheme, plain, context)
  const digits = user.replace(/[^0-9]/g, '').length
  if (digits >= leastDigitsOfNumber || /^[+0-9]/.test(plain))
    return { problem: 'It mixes a number with letters: write its digits only.' }
  if (scheme === 'tel' || context !== '' || !/^[A-Za-z][A-Za-z0-9._-]*$/.test(user))
    return { problem: form }
  return { kind: 'extension', scheme, user }
}

const readNumber = (
  scheme: TransferTarget['scheme'],
  plain: string,
  context: string,
): TransferTarget | UnreadableTarget => {
  const isGlobal = plain.startsWith('+')
  const digits = isGlobal ? plain.slice(1) : `${context}${plain}`
  const isInternational = isGlobal || context !== ''
  if (digits.length > maxDigits) return { problem: 'No number has so many digits.' }
  return isInternational || digits.length >= leastDigitsOfNumber
    ? { kind: 'number', scheme, digits, isInternational }
    : { kind: 'extension', scheme, user: digits }
}

/** The digits of a `phone-context` that is the beginning of a number (RFC 3966 5.1.5); '' without one. */
const readContext = (parameters: readonly string[]): string | UnreadableTarget => {
  if (parameters.length === 0) return ''
  const [name = '', value] = (parameters[0] ?? '').split('=')
  const context = value === undefined ? undefined : unescape(value)
  if (parameters.length > 1 || name.toLowerCase() !== 'phone-context' || context === undefined)
    return { problem: 'Of parameters a number may have "phone-context" only.' }
  const plain = context.replace(/[-.() ]/g, '')
  if (!/^\+[0-9]{1,15}$/.test(plain))
    return { problem: 'Its phone-context must be the beginning of a number, such as "+1".' }
  return plain.slice(1)
}

/** Decodes escapes once; `undefined` if they are malformed, or hide what a user part must not contain. */
const unescape = (text: string): string | undefined => {
  try {
    const plain = decodeURIComponent(text)
    return /^[-A-Za-z0-9+.() _]*$/.test(plain) ? plain : undefined
  } catch {
    return undefined
  }
}

const isHostPort = (text: string): boolean => {
  const bracket = text.indexOf(']')
  const colon = text.indexOf(':', bracket + 1)
  const host = colon < 0 ? text : text.slice(0, colon)
  if (colon >= 0) {
    const port = text.slice(colon + 1)
    if (!/^[0-9]{1,5}$/.test(port) || Number(port) === 0 || Number(port) > 65_535) return false
  }
  if (host.startsWith('[')) return host.endsWith(']') && isIPv6(host.slice(1, -1))
  return host.split('.').every((label) => /^[A-Za-z0-9_-]{1,63}$/.test(label))
}
