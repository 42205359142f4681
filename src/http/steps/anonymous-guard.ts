import { ApiError } from '../../contract/api-error.ts'
import { networkOf } from '../connections/client-address.ts'
import type { FixedWindows } from '../rate-limits/fixed-windows.ts'

/** Counts failed authentications per address (D11): a valid key is never held up, however many strangers share its address. */
export interface AnonymousGuard {
  /** What an address is told in place of its 401, once it got too many of them. */
  refuse(address: string): ApiError | undefined
  /** Whether it got too many already: what it sends next is worth no look-up. */
  isHeldUp(address: string): boolean
}

export const guardAnonymous = (windows: FixedWindows, limit: number): AnonymousGuard => ({
  refuse(address) {
    const { count, resetSeconds } = windows.hit(networkOf(address))
    if (count <= limit) return undefined
    return new ApiError(
      'rate_limit_exceeded',
      'Too many requests without a valid key came from this address.',
      undefined,
      { retryAfterSeconds: resetSeconds },
    )
  },
  isHeldUp: (address) => windows.count(networkOf(address)) >= limit,
})
