import { ApiError } from '../../contract/api-error.ts'
import { networkOf } from '../client-address.ts'
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
