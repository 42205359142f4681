import { createHash, randomBytes } from 'node:crypto'
import { createDigestPolicy, type ChallengeTerms, type DigestPolicy } from './digest-policy.ts'
import { parseParameters, quote, type Parameters } from '../message/header-syntax.ts'
import { headersOf, type Header, type SipRequest, type SipResponse } from '../message/message.ts'
import { splitOutsideQuotes } from '../message/header-syntax.ts'
import type { Destination } from '../message/destination.ts'

export interface Credentials {
  readonly username: string
  readonly password: string
}

/**
 * Answers digest challenges for one call (RFC 2617, 7616, 8760) and signs its later requests without being
 * challenged.
 */
export interface DigestClient {
  /** The part for requests to one hop. Hops other than the trunk's get no credentials and change no state. */
  towards(destination: Destination): HopDigest
}

export interface HopDigest {
  /** Whether requests to this hop may carry credentials at all. */
  readonly isTrusted: boolean
  /**
   * Learns from a 401 or 407 to a request that went to this hop. `false` when answering again is pointless or
   * wrong: no credentials, no known scheme, a challenge that the policy refuses, or refused credentials with a
   * nonce that is not merely stale.
   */
  learn(response: SipResponse): boolean
  /** A signed request was not challenged again: a later challenge is worth answering. A 2xx pins the realms. */
  prove(response: SipResponse): void
  /** Authorization headers for a request; empty before a challenge. */
  sign(request: Pick<SipRequest, 'method' | 'uri' | 'body'>): Header[]
}

interface DigestClientOptions {
  /** The permitted uses of the trunk's password; by default MD5 with qop, and only at the first hop. */
  readonly policy?: DigestPolicy | undefined
  /** Whether a hop is where the call was first sent. */
  readonly isFirstHop?: (destination: Destination) => boolean
  /** For test vectors. */
  readonly newCnonce?: () => string
}

export type Algorithm =
  'MD5' | 'MD5-sess' | 'SHA-256' | 'SHA-256-sess' | 'SHA-512-256' | 'SHA-512-256-sess'

const algorithms: Readonly<Record<Algorithm, string>> = {
  'SHA-512-256': 'sha512-256',
  'SHA-512-256-sess': 'sha512-256',
  'SHA-256': 'sha256',
  'SHA-256-sess': 'sha256',
  MD5: 'md5',
  'MD5-sess': 'md5',
}

/** Strongest first: our choice when a server offers several (RFC 8760 2.4). */
const preference = Object.keys(algorithms) as Algorithm[]

interface Challenge {
  readonly realm: string
  readonly nonce: string
  readonly opaque?: string
  readonly algorithm: Algorithm
  /** In the server's spelling; absent if it sent none. */
  readonly writtenAlgorithm?: string
  readonly qop?: 'auth' | 'auth-int'
  readonly isStale: boolean
}

interface Session {
  readonly challenge: Challenge
  readonly cnonce: string
  count: number
  isProven: boolean
}

// Realms that one call may meet on its way: more would be a server that never stops asking.
const maxRealms = 4

const fields = {
  401: { challenge: 'www-authenticate', answer: 'authorization' },
  407: { challenge: 'proxy-authenticate', answer: 'proxy-authorization' },
} as const

export const createDigestClient = (
  credentials: Credentials | undefined,
  options: DigestClientOptions = {},
): DigestClient => {
  const policy = options.policy ?? createDigestPolicy()
  const newCnonce = options.newCnonce ?? (() => randomBytes(12).toString('hex'))
  const sessions = new Map<string, Session>()
  const isRepeated = (answer: string, { realm, isStale }: Challenge): boolean =>
    sessions.get(`${answer}|${realm}`)?.isProven === false && !isStale
  const ofTrunk: HopDigest = {
    isTrusted: true,
    learn: (response) => {
      if (credentials === undefined || (response.status !== 401 && response.status !== 407))
        return false
      const { challenge: field, answer } = fields[response.status]
      const offered = headersOf(response, field).flatMap((value) => parseChallenge(value) ?? [])
      const challenges = strongestOfEachRealm(acceptable(policy, answer, offered))
      // Refused credentials would be refused again, whatever else is requested.
      if (challenges.length === 0 || challenges.some((one) => isRepeated(answer, one))) return false
      const added = challenges.filter(({ realm }) => !sessions.has(`${answer}|${realm}`))
      if (sessions.size + added.length > maxRealms) return false
      for (const challenge of challenges) {
        const session = { challenge, cnonce: newCnonce(), count: 0, isProven: false }
        sessions.set(`${answer}|${challenge.realm}`, session)
      }
      return true
    },
    prove: ({ status }) => {
      for (const session of sessions.values()) session.isProven = true
      if (status >= 200 && status < 300)
        policy.pin(
          [...sessions].map(([key, { challenge }]) => termsOf(answerField(key), challenge)),
        )
    },
    sign: (request) =>
      credentials === undefined
        ? []
        : [...sessions].map(([key, session]): Header => {
            session.count += 1
            return [answerField(key), authorization(credentials, session, request)]
          }),
  }
  return {
    towards: (destination) =>
      (options.isFirstHop?.(destination) ?? false) || policy.belongsToTrunk(destination)
        ? ofTrunk
        : strangersDigest,
  }
}

const strangersDigest: HopDigest = {
  isTrusted: false,
  learn: () => false,
  prove: () => {},
  sign: () => [],
}

const answerField = (key: string): ChallengeTerms['field'] =>
  key.startsWith('proxy-') ? 'proxy-authorization' : 'authorization'

const termsOf = (
  field: ChallengeTerms['field'],
  { realm, algorithm, qop }: Challenge,
): ChallengeTerms => ({ field, realm, algorithm, hasQop: qop !== undefined })

/** The challenges that the policy lets the password answer; if there is none, the log has the reason. */
const acceptable = (
  policy: DigestPolicy,
  field: ChallengeTerms['field'],
  offered: readonly Challenge[],
): readonly Challenge[] => {
  const accepted = offered.filter((one) => policy.refusalOf(termsOf(field, one)) === undefined)
  const [refused] = offered
  if (accepted.length > 0 || refused === undefined) return accepted
  const terms = termsOf(field, refused)
  policy.warn(policy.refusalOf(terms) ?? '', terms)
  return []
}

/** One challenge for each realm: a forking proxy forwards those of all its branches (RFC 3261 22.3). */
const strongestOfEachRealm = (challenges: readonly Challenge[]): Challenge[] => {
  const byRealm = new Map<string, Challenge>()
  const weakestFirst = challenges.toSorted(
    (a, b) => preference.indexOf(b.algorithm) - preference.indexOf(a.algorithm),
  )
  for (const challenge of weakestFirst) byRealm.set(challenge.realm, challenge)
  return [...byRealm.values()]
}

const parseChallenge = (value: string): Challenge | undefined => {
  const parameters = parseDigestParameters(value)
  const realm = parameters?.get('realm')
  const nonce = parameters?.get('nonce')
  const written = parameters?.get('algorithm')
  const algorithm = findAlgorithm(written ?? 'MD5')
  if (parameters === undefined || realm === undefined || nonce === undefined) return undefined
  const qop = chooseQop(parameters.get('qop'))
  if (algorithm === undefined || qop === 'unknown') return undefined
  const opaque = parameters.get('opaque')
  return {
    realm,
    nonce,
    algorithm,
    ...(opaque === undefined ? {} : { opaque }),
    ...(written === undefined ? {} : { writtenAlgorithm: written }),
    ...(qop === undefined ? {} : { qop }),
    isStale: parameters.get('stale')?.toLowerCase() === 'true',
  }
}

/** Reads `Digest a="b", c=d`; `undefined` for another scheme or broken quotes. */
export const parseDigestParameters = (value: string): Parameters | undefined => {
  const match = /^digest\s+([^]*)$/i.exec(value)
  return match === null
    ? undefined
    : parseParameters(splitOutsideQuotes(match[1] ?? '', ',').join(';'))
}

const findAlgorithm = (written: string): Algorithm | undefined =>
  preference.find((known) => known.toLowerCase() === written.toLowerCase())

// auth before auth-int: proxies may change bodies, and both prove the password equally.
const chooseQop = (offered: string | undefined): 'auth' | 'auth-int' | 'unknown' | undefined => {
  if (offered === undefined || offered === '') return undefined
  const tokens = offered.toLowerCase().split(/[\s,]+/)
  if (tokens.includes('auth')) return 'auth'
  return tokens.includes('auth-int') ? 'auth-int' : 'unknown'
}

export type SignedRequest = Pick<SipRequest, 'method' | 'uri' | 'body'>

const authorization = (
  credentials: Credentials,
  { challenge, cnonce, count }: Session,
  request: SignedRequest,
): string => {
  const nc = count.toString(16).padStart(8, '0')
  const response = digestResponse({ credentials, challenge, cnonce, nc, request })
  const needsCnonce = challenge.qop !== undefined || challenge.algorithm.endsWith('-sess')
  return [
    `Digest username=${quote(credentials.username)}`,
    `realm=${quote(challenge.realm)}`,
    `nonce=${quote(challenge.nonce)}`,
    `uri=${quote(request.uri)}`,
    `response="${response}"`,
    ...(challenge.writtenAlgorithm === undefined ? [] : [`algorithm=${challenge.algorithm}`]),
    ...(needsCnonce ? [`cnonce="${cnonce}"`] : []),
    ...(challenge.opaque === undefined ? [] : [`opaque=${quote(challenge.opaque)}`]),
    ...(challenge.qop === undefined ? [] : [`qop=${challenge.qop}`, `nc=${nc}`]),
  ].join(', ')
}

/** RFC 7616 3.4: A1, A2 and their combination. */
export const digestResponse = (input: {
  readonly credentials: Credentials
  readonly challenge: Challenge
  readonly cnonce: string
  readonly nc: string
  readonly request: SignedRequest
}): string => {
  const { credentials, challenge, cnonce, nc, request } = input
  const hash = (data: string | Buffer): string =>
    createHash(algorithms[challenge.algorithm]).update(data).digest('hex')
  const secret = hash(`${credentials.username}:${challenge.realm}:${credentials.password}`)
  const a1 = challenge.algorithm.endsWith('-sess')
    ? hash(`${secret}:${challenge.nonce}:${cnonce}`)
    : secret
  const body = challenge.qop === 'auth-int' ? `:${hash(request.body)}` : ''
  const a2 = hash(`${request.method}:${request.uri}${body}`)
  return challenge.qop === undefined
    ? hash(`${a1}:${challenge.nonce}:${a2}`)
    : hash(`${a1}:${challenge.nonce}:${nc}:${cnonce}:${challenge.qop}:${a2}`)
}
