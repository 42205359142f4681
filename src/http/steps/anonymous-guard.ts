import { isIPv6 } from 'node:net'
import { ApiError } from '../../contract/api-error.ts'
import type { FixedWindows } from '../fixed-windows.ts'

/** What an address is told in place of its 401, once it got too many of them. */
export type GuardAnonymous = (address: string) => ApiError | undefined

/**
 * Counts failed authentications per address and answers 429 in place of 401 above the limit. A valid key is never
 * held up, however many strangers share its address (D11).
 */
export const guardAnonymous =
  (windows: FixedWindows, limit: number): GuardAnonymous =>
  (address) => {
    const { count, resetSeconds } = windows.hit(networkOf(address))
    if (count <= limit) return undefined
    return new ApiError(
      'rate_limit_exceeded',
      'Too many requests without a valid key came from this address.',
      undefined,
      { retryAfterSeconds: resetSeconds },
    )
  }

/** A person holds a whole /64 of IPv6, so that is what counts as one address. */
const networkOf = (address: string): string =>
  isIPv6(address) && !address.startsWith('::ffff:')
    ? expandIPv6(address).slice(0, 4).join(':')
    : address

const expandIPv6 = (address: string): string[] => {
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return [...before, ...(tail === undefined ? [] : zeros), ...after]
}
