import { isIP, isIPv6 } from 'node:net'
import type { WeakestDigest } from '../sip/digest/digest-policy.ts'
import { hostPort, parseSipUri } from '../sip/message/uri.ts'
import type { SrtpPolicy } from '../sdp/read-sdp.ts'
import type { DtmfMode } from './carrier.ts'

type TrunkTransport = 'udp' | 'tcp' | 'tls'

/** The trunk for outgoing calls. */
export interface Trunk {
  readonly host: string
  readonly port?: number
  readonly transport: TrunkTransport
  /** UDP was written in so many words: DNS does not choose another transport (NAPTR, RFC 3263 4.1). */
  readonly isTransportFixed?: true
  /** Hosts that a 3xx of the trunk may lead to; by default none. */
  readonly redirectTo?: readonly string[]
  /** Accepted RTP sources: the SDP's address (the default), or any sender until latched. */
  readonly media?: 'declared' | 'symmetric'
  /** SRTP with keys in the SDP; `off` by default. */
  readonly srtp?: SrtpPolicy
  /** How keys are sent and heard; `auto` by default. */
  readonly dtmf?: DtmfMode
  /** The weakest accepted digest challenge; by default `md5`, with a warning. */
  readonly auth?: WeakestDigest
  readonly credentials?: { readonly username: string; readonly password: string }
}

const form = 'sip:[user[:password]@]host[:port][;transport=udp|tcp|tls]'
const knownParameters = new Set(['transport', 'media', 'auth', 'dtmf', 'srtp', 'redirect'])

/**
 * Parses `sip:[user[:password]@]host[:port][;transport=udp|tcp|tls]`, with `;media=…`, `;dtmf=…`, `;srtp=…` and `;auth=…`. Throws an
 * `Error` whose message an administrator can act on; it never repeats the password. User and password may be
 * percent-escaped.
 */
export const parseTrunkUri = (text: string): Trunk => {
  if (!/^sips?:/i.test(text)) throw new Error(`a SIP trunk is written ${form}`)
  const uri = parseSipUri(text.trim())
  if (uri === undefined)
    throw new Error(`the SIP trunk cannot be read: it must have the form ${form}`)
  const credentials = readCredentials(uri.user, uri.password)
  const unknown = [...uri.parameters.keys()].find((name) => !knownParameters.has(name))
  if (unknown !== undefined) throw new Error(`the SIP trunk has an unknown parameter "${unknown}"`)
  const auth = readAuth(uri.parameters.get('auth'))
  const media = readMedia(uri.parameters.get('media'))
  const dtmf = readDtmf(uri.parameters.get('dtmf'))
  const srtp = readSrtp(uri.parameters.get('srtp'))
  const redirectTo = readHosts(uri.parameters.get('redirect'))
  return {
    host: uri.host,
    ...(uri.port === undefined ? {} : { port: uri.port }),
    transport: readTransport(uri.scheme, uri.parameters),
    ...(uri.parameters.get('transport')?.toLowerCase() === 'udp' ? { isTransportFixed: true } : {}),
    ...(redirectTo === undefined ? {} : { redirectTo }),
    ...(media === undefined ? {} : { media }),
    ...(dtmf === undefined ? {} : { dtmf }),
    ...(srtp === undefined ? {} : { srtp }),
    ...(auth === undefined ? {} : { auth }),
    ...(credentials === undefined ? {} : { credentials }),
  }
}

/** Whether the trunk is on this machine: a test peer. */
export const isLocalTrunk = ({ host }: Trunk): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.')

/** Where sockets towards the trunk listen: on its IP version, and only on loopback for a trunk on loopback. */
export const bindAddressFor = (trunk: Trunk): string => {
  if (isIPv6(trunk.host)) return isLocalTrunk(trunk) ? '::1' : '::'
  return isLocalTrunk(trunk) ? '127.0.0.1' : '0.0.0.0'
}

const readTransport = (
  scheme: 'sip' | 'sips',
  parameters: ReadonlyMap<string, string>,
): TrunkTransport => {
  const named = parameters.get('transport')?.toLowerCase() ?? (scheme === 'sips' ? 'tls' : 'udp')
  if (named !== 'udp' && named !== 'tcp' && named !== 'tls')
    throw new Error('the transport of the SIP trunk must be udp, tcp or tls')
  if (scheme === 'sips' && named !== 'tls') throw new Error('a sips trunk is always reached by tls')
  return named
}

const maxRedirectHosts = 20

const readHosts = (written: string | undefined): readonly string[] | undefined => {
  if (written === undefined) return undefined
  const hosts = written.split(',')
  const isHost = (host: string): boolean => {
    const uri = parseSipUri(`sip:${host}`)
    return uri !== undefined && uri.port === undefined && uri.user === undefined
  }
  if (hosts.length > maxRedirectHosts || !hosts.every((host) => host !== '' && isHost(host)))
    throw new Error(
      `redirect of the SIP trunk must be at most ${maxRedirectHosts} hosts, separated by commas`,
    )
  return hosts
}

const readMedia = (written: string | undefined): Trunk['media'] => {
  const media = written?.toLowerCase()
  if (media === undefined || media === 'declared' || media === 'symmetric') return media
  throw new Error('media of the SIP trunk must be declared or symmetric')
}

const dtmfModes: readonly DtmfMode[] = ['auto', 'rfc4733', 'info', 'inband']

const readDtmf = (written: string | undefined): DtmfMode | undefined => {
  if (written === undefined) return undefined
  const dtmf = dtmfModes.find((mode) => mode === written.toLowerCase())
  if (dtmf === undefined)
    throw new Error(`dtmf of the SIP trunk must be one of ${dtmfModes.join(', ')}`)
  return dtmf
}

const readSrtp = (written: string | undefined): SrtpPolicy | undefined => {
  const srtp = written?.toLowerCase()
  if (srtp === undefined || srtp === 'off' || srtp === 'preferred' || srtp === 'required')
    return srtp
  throw new Error('srtp of the SIP trunk must be off, preferred or required')
}

const weakestDigests: readonly WeakestDigest[] = ['rfc2069', 'md5', 'sha-256', 'sha-512-256']

const readAuth = (written: string | undefined): WeakestDigest | undefined => {
  if (written === undefined) return undefined
  const auth = weakestDigests.find((name) => name === written.toLowerCase())
  if (auth === undefined)
    throw new Error(`auth of the SIP trunk must be one of ${weakestDigests.join(', ')}`)
  return auth
}

const readCredentials = (
  user: string | undefined,
  password: string | undefined,
): Trunk['credentials'] => {
  if (user === undefined) return undefined
  try {
    return {
      username: decodeURIComponent(user),
      password: decodeURIComponent(password ?? ''),
    }
  } catch {
    throw new Error('user or password of the SIP trunk are not escaped correctly')
  }
}

/** For people: contains no secret. */
export const placeOfTrunk = ({ host, port }: Trunk): string =>
  port === undefined ? host : `${host}:${port}`

/** The SIP URI of a number on a trunk, or of the trunk itself. */
export const trunkTarget = (trunk: Trunk, number?: string): string => {
  const { host, port, transport } = trunk
  const user = number === undefined ? '' : `${number}@`
  // UDP needs no word, except where DNS could choose another transport.
  const mayVary = port === undefined && isIP(host) === 0 && trunk.isTransportFixed === true
  const parameter = transport === 'udp' && !mayVary ? '' : `;transport=${transport}`
  return `sip:${user}${hostPort(host, port)}${parameter}`
}
