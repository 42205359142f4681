import { buckets, defaultRateLimits, type Bucket, type RateLimits } from '../../contract/buckets.ts'
import { OperatorError } from './operator-error.ts'

const maxAllowance = 10_000_000

const isBucket = (name: string): name is Bucket => buckets.some((bucket) => bucket === name)

/** Requests per 60 s for some buckets; throws `OperatorError` for an unknown bucket or an impossible number. */
export const checkRateLimits = (rates: Readonly<Record<string, number>>): Partial<RateLimits> => {
  for (const [bucket, allowance] of Object.entries(rates)) {
    if (!isBucket(bucket)) {
      throw new OperatorError(`There is no bucket "${bucket}": it is one of ${buckets.join(', ')}.`)
    }
    if (!Number.isInteger(allowance) || allowance < 1 || allowance > maxAllowance) {
      throw new OperatorError(
        `The rate of ${bucket} must be a whole number from 1 to ${maxAllowance}.`,
      )
    }
  }
  return rates
}

/** An organization's allowance in each bucket (D11). */
export const allowancesOf = (overrides: Partial<RateLimits>): RateLimits => ({
  ...defaultRateLimits,
  ...overrides,
})
