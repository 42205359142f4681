import { isIPv6 } from 'node:net'
import type { WeakestDigest } from '../sip/digest/digest-policy.ts'
import { hostPort, parseSipUri } from '../sip/message/uri.ts'

type TrunkTransport = 'udp' | 'tcp' | 'tls'

/** The trunk for outgoing calls. */
export interface Trunk {
  readonly host: string
  readonly port?: number
  readonly transport: TrunkTransport
  /** Accepted RTP sources: the SDP's address (the default), or any sender until latched. */
  readonly media?: 'declared' | 'symmetric'
  /** The weakest accepted digest challenge; by default `md5`, with a warning. */
  readonly auth?: WeakestDigest
  readonly credentials?: { readonly username: string; readonly password: string }
}

const form = 'sip:[user[:password]@]host[:port][;transport=udp|tcp|tls]'
const knownParameters = new Set(['transport', 'media', 'auth'])

/**
 * Parses `sip:[user[:password]@]host[:port][;transport=udp|tcp|tls]`, with `;media=…` and `;auth=…`. Throws an
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
  return {
    host: uri.host,
    ...(uri.port === undefined ? {} : { port: uri.port }),
    transport: readTransport(uri.scheme, uri.parameters),
    ...(media === undefined ? {} : { media }),
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

const readMedia = (written: string | undefined): Trunk['media'] => {
  const media = written?.toLowerCase()
  if (media === undefined || media === 'declared' || media === 'symmetric') return media
  throw new Error('media of the SIP trunk must be declared or symmetric')
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
export const trunkTarget = ({ host, port, transport }: Trunk, number?: string): string => {
  const user = number === undefined ? '' : `${number}@`
  const parameter = transport === 'udp' ? '' : `;transport=${transport}`
  return `sip:${user}${hostPort(host, port)}${parameter}`
}
