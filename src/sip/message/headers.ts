import { isToken, parseParameters, splitOutsideQuotes, type Parameters } from './header-syntax.ts'
import { headerOf, headersOf, type SipMessage } from './message.ts'
import { isAddress } from './uri.ts'

/**
 * The value of From, To, Contact, Route and similar fields (RFC 3261 20.10): the URI as written, and the
 * parameters.
 */
interface NameAddress {
  readonly displayName: string
  readonly uri: string
  readonly parameters: Parameters
}

const bracketed = /^((?:[^"<\\]|"(?:[^"\\]|\\[^])*")*)<([^<>\s]+)>\s*((?:;[^]*)?)$/

/** Parses a name-addr or addr-spec with parameters; `undefined` for other text. */
export const parseNameAddress = (value: string): NameAddress | undefined => {
  const match = bracketed.exec(value.trim())
  if (match !== null) return fromBrackets(match)
  // Without brackets, everything after the first semicolon belongs to the header, and the URI may contain no `?` or
  // `,`.
  const [uri = '', ...rest] = value.trim().split(';')
  const parameters = parseParameters(rest.join(';'))
  if (parameters === undefined || !/^[a-z][a-z0-9+\-.]*:[^\s<>"?,]+$/i.test(uri.trim()))
    return undefined
  return { displayName: '', uri: uri.trim(), parameters }
}

/**
 * The same, but as forgiving as possible: an unquoted name in any script, quotes that do not end, parameters that
 * cannot be read. For messages of a call that would be lost otherwise.
 */
export const readNameAddress = (value: string): NameAddress | undefined => {
  const strict = parseNameAddress(value)
  if (strict !== undefined) return strict
  const found = /<\s{0,8}((?:sips?|tel):[^<>\s"]+)\s{0,8}>/i.exec(value)
  const [bare = '', ...rest] = value.split(';')
  const uri = found?.[1] ?? /^\s*((?:sips?|tel):[^<>\s"]+)\s*$/i.exec(bare)?.[1]
  if (uri === undefined) return undefined
  const tail = found === null ? rest : value.slice(found.index + found[0].length).split(';')
  return { displayName: '', uri, parameters: readableParameters(tail) }
}

const readableParameters = (parts: readonly string[]): Parameters => {
  const parameters = new Map<string, string>()
  for (const part of parts)
    for (const [name, text] of parseParameters(part) ?? [])
      if (!parameters.has(name)) parameters.set(name, text)
  return parameters
}

const fromBrackets = ([, name = '', uri = '', rest = '']: RegExpExecArray):
  NameAddress | undefined => {
  const displayName = parseDisplayName(name.trim())
  const parameters = parseParameters(rest)
  if (displayName === undefined || parameters === undefined) return undefined
  if (!/^[a-z][a-z0-9+\-.]*:[^]+$/i.test(uri)) return undefined
  return { displayName, uri, parameters }
}

const parseDisplayName = (written: string): string | undefined => {
  const quoted = /^"((?:[^"\\]|\\[^])*)"$/.exec(written)
  if (quoted !== null) return (quoted[1] ?? '').replace(/\\([^])/g, '$1')
  if (written === '' || written.split(/\s+/).every(isToken)) return written
  return undefined
}

/** One Via value (RFC 3261 20.42). */
export interface Via {
  readonly protocol: string
  readonly host: string
  readonly port?: number
  readonly parameters: Parameters
}

// The part before the parameters: neighbouring parts share no character, so it is read in linear time.
const sentBy =
  /^SIP\s*\/\s*2\.0\s*\/\s*([!%'*+\-.0-9A-Z_`a-z~]+)\s+(\[[0-9a-f:.]+\]|[0-9a-z\-._]+)(?:\s*:\s*(\d{1,5}))?$/i

/** Parses one Via value (RFC 3261 20.42); `undefined` if it is malformed. */
export const parseVia = (value: string): Via | undefined => {
  const semicolon = value.indexOf(';')
  const match = sentBy.exec((semicolon < 0 ? value : value.slice(0, semicolon)).trim())
  if (match === null) return undefined
  const [, protocol = '', host = '', port] = match
  const parameters = parseParameters(semicolon < 0 ? '' : value.slice(semicolon))
  if (parameters === undefined || Number(port ?? 1) > 65_535) return undefined
  return {
    protocol: protocol.toUpperCase(),
    host: host.replace(/^\[|\]$/g, ''),
    ...(port === undefined ? {} : { port: Number(port) }),
    parameters,
  }
}

/** The top Via of a message. */
export const topVia = (message: SipMessage): Via | undefined => {
  const value = headerOf(message, 'via')
  return value === undefined ? undefined : parseVia(value)
}

/** CSeq (RFC 3261 20.16): the number is below 2^31. */
interface CSeq {
  readonly sequence: number
  readonly method: string
}

/** Reads CSeq; `undefined` where it is malformed or too large. */
export const parseCSeq = (value: string): CSeq | undefined => {
  const match = /^(\d{1,10})\s+([!%'*+\-.0-9A-Z_`a-z~]+)$/.exec(value)
  const sequence = Number(match?.[1])
  if (match === null || sequence >= 2 ** 31) return undefined
  return { sequence, method: match[2] ?? '' }
}

/** CSeq of a validated message. */
export const cseqOf = (message: SipMessage): CSeq =>
  parseCSeq(headerOf(message, 'cseq') ?? '') ?? { sequence: 0, method: '' }

/** The tag of From or To; `undefined` if there is none. */
export const tagOf = (message: SipMessage, name: 'from' | 'to'): string | undefined =>
  readNameAddress(headerOf(message, name) ?? '')?.parameters.get('tag')

/** A delay in whole seconds (Retry-After, Min-SE, Expires), ignoring what follows; capped at one day. */
export const parseDelaySeconds = (value: string | undefined): number | undefined => {
  const digits = /^\s*(\d+)\s*(?:$|[;( ])/.exec(value ?? '')?.[1]
  return digits === undefined ? undefined : Math.min(Number(digits), 86_400)
}

/** Session-Expires (RFC 4028 4). */
interface SessionExpires {
  readonly seconds: number
  readonly refresher?: 'uac' | 'uas'
}

/** Session-Expires of a message; `undefined` if it is absent or malformed. */
export const sessionExpiresOf = (message: SipMessage): SessionExpires | undefined => {
  const [delta = '', ...rest] = splitOutsideQuotes(headerOf(message, 'session-expires') ?? '', ';')
  const seconds = parseDelaySeconds(delta)
  if (seconds === undefined) return undefined
  const refresher = parseParameters(rest.join(';'))?.get('refresher')?.toLowerCase()
  return refresher === 'uac' || refresher === 'uas' ? { seconds, refresher } : { seconds }
}

/** The cause of a Reason header for a protocol (RFC 3326), e.g. `Q.850`. */
export const reasonCause = (message: SipMessage, protocol: string): number | undefined => {
  for (const value of headersOf(message, 'reason')) {
    const [name = '', ...rest] = value.split(';')
    const cause = Number(parseParameters(rest.join(';'))?.get('cause'))
    if (name.trim().toLowerCase() === protocol.toLowerCase() && Number.isInteger(cause))
      return cause
  }
  return undefined
}

/** The address of the top Via, for comparison with the source. */
export const isSameHost = (host: string, address: string): boolean =>
  isAddress(host) && host.toLowerCase() === address.toLowerCase()
