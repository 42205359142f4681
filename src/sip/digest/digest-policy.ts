import type { Logger } from '../../runtime/logger.ts'
import type { Destination } from '../message/destination.ts'

/**
 * The weakest challenge that is answered, each with `qop`; `rfc2069` also accepts MD5 without it, as equipment from
 * before 1999 sends.
 */
export type WeakestDigest = 'rfc2069' | 'md5' | 'sha-256' | 'sha-512-256'

/** The part of a challenge that decides whether the password may answer it. */
export interface ChallengeTerms {
  readonly field: 'authorization' | 'proxy-authorization'
  readonly realm: string
  readonly algorithm: string
  readonly hasQop: boolean
}

/** The permitted uses of one trunk's password, for the lifetime of the process. */
export interface DigestPolicy {
  /** Whether the address and port belong to the trunk: requests to others carry no credentials. */
  belongsToTrunk(destination: Destination): boolean
  /** Why this challenge is not answered; `undefined` if it is. */
  refusalOf(challenge: ChallengeTerms): string | undefined
  /** Credentials for these realms were accepted: from now on no other realm is answered. */
  pin(challenges: readonly ChallengeTerms[]): void
  /** A challenge was refused for this reason; logged once for each reason. */
  warn(reason: string, challenge: ChallengeTerms): void
}

interface DigestPolicyOptions {
  readonly weakest?: WeakestDigest
  readonly belongsToTrunk?: (destination: Destination) => boolean
  /** The only realm that is answered; by default the first that takes the credentials. */
  readonly realm?: string
  /** Whether MD5 was not chosen explicitly, so that its use is worth a log line. */
  readonly warnsOfMd5?: boolean
  readonly logger?: Logger
}

const strengths = { md5: 0, sha: 1, 'sha-512': 2 } as const
const needed: Readonly<Record<WeakestDigest, number>> = {
  rfc2069: strengths.md5,
  md5: strengths.md5,
  'sha-256': strengths.sha,
  'sha-512-256': strengths['sha-512'],
}

const strengthOf = (algorithm: string): number => {
  if (algorithm.startsWith('SHA-512')) return strengths['sha-512']
  return algorithm.startsWith('SHA-256') ? strengths.sha : strengths.md5
}

export const createDigestPolicy = (options: DigestPolicyOptions = {}): DigestPolicy => {
  const weakest = options.weakest ?? 'md5'
  const pinned = new Map<ChallengeTerms['field'], ReadonlySet<string>>()
  const warned = new Set<string>()
  const warn = (reason: string, { realm, algorithm }: ChallengeTerms): void => {
    if (warned.has(reason)) return
    warned.add(reason)
    options.logger?.warn({ reason, realm: realm.slice(0, 100), algorithm }, 'SIP credentials')
  }
  return {
    belongsToTrunk: options.belongsToTrunk ?? (() => false),
    refusalOf: ({ field, realm, algorithm, hasQop }) => {
      if (strengthOf(algorithm) < needed[weakest])
        return 'the algorithm is weaker than the auth of the trunk allows'
      if (!hasQop && weakest !== 'rfc2069')
        return 'the challenge has no qop; auth=rfc2069 in the trunk would answer it'
      if (options.realm !== undefined && realm !== options.realm)
        return 'the realm is another than that of the trunk; trunk set --realm changes it'
      const known = pinned.get(field)
      return known === undefined || known.has(realm)
        ? undefined
        : 'the realm is another than that which took the credentials before; restart if the carrier changed it'
    },
    pin: (challenges) => {
      for (const field of ['authorization', 'proxy-authorization'] as const) {
        const realms = challenges.filter((one) => one.field === field).map(({ realm }) => realm)
        if (realms.length > 0 && !pinned.has(field)) pinned.set(field, new Set(realms))
      }
      const weak = challenges.find(({ algorithm }) => strengthOf(algorithm) === strengths.md5)
      if (weak !== undefined && options.warnsOfMd5 === true)
        warn('MD5 was answered; auth=sha-256 in the trunk refuses it, auth=md5 settles it', weak)
    },
    warn,
  }
}
