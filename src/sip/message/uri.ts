import { isIP, isIPv6 } from 'node:net'
import { parseParameters, type Parameters } from './header-syntax.ts'

/** A SIP or SIPS URI (RFC 3261 19.1). `host` has no brackets; `port` is absent if none was written. */
export interface SipUri {
  readonly scheme: 'sip' | 'sips'
  readonly user?: string
  readonly password?: string
  readonly host: string
  readonly port?: number
  readonly parameters: Parameters
}

const sipUri =
  /^(sips?):(?:([^@\s<>"]+)@)?(\[[0-9a-f:.]+\]|[0-9a-z](?:[0-9a-z\-._]*[0-9a-z])?\.?)(?::(\d{1,5}))?(;[^?\s<>"]*)?$/i

/**
 * Parses a SIP or SIPS URI; `undefined` for any other text. User and password stay escaped as written. URIs with a
 * header part (`?…`) are refused, because they would set fields of our requests (RFC 3261 19.1.5).
 */
export const parseSipUri = (text: string): SipUri | undefined => {
  const match = sipUri.exec(text)
  if (match === null) return undefined
  const [, scheme = '', userinfo, written = '', portText, parameterText = ''] = match
  const host = written.startsWith('[') ? written.slice(1, -1) : written
  const port = portText === undefined ? undefined : Number(portText)
  const parameters = parseParameters(parameterText)
  if (parameters === undefined || (port !== undefined && (port === 0 || port > 65_535)))
    return undefined
  if (written.startsWith('[') && !isIPv6(host)) return undefined
  return {
    scheme: scheme.toLowerCase() === 'sips' ? 'sips' : 'sip',
    ...splitUserinfo(userinfo),
    host,
    ...(port === undefined ? {} : { port }),
    parameters,
  }
}

const splitUserinfo = (userinfo: string | undefined): { user?: string; password?: string } => {
  if (userinfo === undefined) return {}
  const colon = userinfo.indexOf(':')
  return colon < 0
    ? { user: userinfo }
    : { user: userinfo.slice(0, colon), password: userinfo.slice(colon + 1) }
}

/** The scheme of any URI in lower case, or `undefined`. */
export const schemeOf = (uri: string): string | undefined =>
  /^([a-z][a-z0-9+\-.]*):/i.exec(uri)?.[1]?.toLowerCase()

/** Host and port in the notation of a URI or Via: IPv6 in brackets. */
export const hostPort = (host: string, port?: number): string => {
  const written = isIPv6(host) ? `[${host}]` : host
  return port === undefined ? written : `${written}:${port}`
}

/** Whether a URI host is an address rather than a name. */
export const isAddress = (host: string): boolean => isIP(host) !== 0
