import { ApiError } from '../../contract/api-error.ts'
import { rateWindowSeconds, type Bucket } from '../../contract/buckets.ts'
import type { KeyPrincipal, Principal } from '../../contract/principal.ts'
import { whenKnown } from '../../runtime/when-known.ts'
import { networkOf } from '../connections/client-address.ts'
import type { WindowCount } from '../rate-limits/fixed-windows.ts'

/** Counts a hit; on several nodes it may have to ask the database. */
export interface RateWindows {
  /** `limit` bounds what a node may reserve ahead; the answer may exceed it. */
  hit(key: string, limit: number): WindowCount | Promise<WindowCount>
}

/** What the caller is told about a bucket: the tighter of the organization's and the key's allowance. */
export interface Allowance {
  readonly bucket: Bucket
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

/**
 * Takes one request out of its principal's allowance. Every administrator has one of the organization's size, so that
 * clicks neither use up what the organization's programs may send, nor wait for it. Visitors are counted by their address.
 */
export const meter = (
  principal: Principal,
  bucket: Bucket,
  windows: RateWindows,
  address: () => string,
): Allowance | Promise<Allowance> => {
  if (principal.kind === 'key') return meterKey(principal, bucket, windows)
  if (principal.kind === 'visitor')
    return take(
      bucket,
      principal.rateLimits[bucket],
      `from:${networkOf(address())}:${bucket}`,
      windows,
    )
  const { organizationId, userId, rateLimits } = principal
  return take(bucket, rateLimits[bucket], `user:${organizationId}:${userId}:${bucket}`, windows)
}

/**
 * Takes one request out of the key's and the organization's allowance. A request that the key's own limit refuses
 * costs the organization nothing, so that one key cannot starve the others.
 */
const meterKey = (
  { organizationId, apiKeyId, rateLimits, keyRateLimits }: KeyPrincipal,
  bucket: Bucket,
  windows: RateWindows,
): Allowance | Promise<Allowance> => {
  const ofOrganization = () =>
    take(bucket, rateLimits[bucket], `org:${organizationId}:${bucket}`, windows)
  const keyLimit = keyRateLimits[bucket]
  if (keyLimit === undefined) return ofOrganization()
  return whenKnown(take(bucket, keyLimit, `key:${apiKeyId}:${bucket}`, windows), (ofKey) =>
    ofKey.remaining < 0
      ? ofKey
      : whenKnown(ofOrganization(), (whole) => (ofKey.remaining < whole.remaining ? ofKey : whole)),
  )
}

const take = (
  bucket: Bucket,
  limit: number,
  key: string,
  windows: RateWindows,
): Allowance | Promise<Allowance> =>
  whenKnown(windows.hit(key, limit), ({ count, resetSeconds }) => ({
    bucket,
    limit,
    remaining: limit - count,
    resetSeconds,
  }))

/** Throws 429 where the allowance is used up. */
export const requireAllowance = ({ bucket, remaining, resetSeconds }: Allowance): void => {
  if (remaining < 0)
    throw new ApiError(
      'rate_limit_exceeded',
      `The allowance of the ${bucket} bucket is used up. Wait, add a small random delay, then retry.`,
      undefined,
      { retryAfterSeconds: resetSeconds },
    )
}

/** `RateLimit-*` as names and values in turn: delta-seconds, never an epoch (contract, "Limits"). */
export const rateLimitHeaders = (allowance: Allowance): readonly string[] => [
  'RateLimit-Limit',
  String(allowance.limit),
  'RateLimit-Remaining',
  String(Math.max(0, allowance.remaining)),
  'RateLimit-Reset',
  String(allowance.resetSeconds),
  'RateLimit-Policy',
  `"${allowance.bucket}";q=${allowance.limit};w=${rateWindowSeconds}`,
]
