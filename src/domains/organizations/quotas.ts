import { ApiError } from '../../contract/api-error.ts'
import { OperatorError } from './operator-error.ts'

/**
 * The default storage quotas of an organization. They are generous, because they protect against faults and are not
 * price plans.
 */
export const defaultQuotas = {
  /** Contacts of any source. */
  contacts: 1_000_000,
  /** Batches that have not ended, or were made within the last 24 hours. */
  batches: 10_000,
  /** Recipients of these batches. */
  recipients: 1_000_000,
  /** Stored responses for the replay of idempotent requests; each for 24 hours. */
  idempotency_answers: 2_000_000,
} as const

export type QuotaName = keyof typeof defaultQuotas

export type Quotas = Readonly<Record<QuotaName, number>>

const quotaNames = Object.keys(defaultQuotas) as readonly QuotaName[]

const maxQuota = 1_000_000_000

/** An operator's quotas; throws `OperatorError` for an unknown name or an impossible number. */
export const checkQuotas = (quotas: Readonly<Record<string, number>>): Partial<Quotas> => {
  for (const [name, quota] of Object.entries(quotas)) {
    if (!quotaNames.some((known) => known === name))
      throw new OperatorError(`There is no quota "${name}": it is one of ${quotaNames.join(', ')}.`)
    if (!Number.isInteger(quota) || quota < 1 || quota > maxQuota)
      throw new OperatorError(`The quota of ${name} must be a whole number from 1 to ${maxQuota}.`)
  }
  return quotas
}

const kept: Readonly<Record<QuotaName, string>> = {
  contacts: 'contacts',
  batches: 'batches that have not ended or are younger than 24 hours',
  recipients: 'recipients of batches that have not ended or are younger than 24 hours',
  idempotency_answers: 'answers to idempotent requests of the last 24 hours',
}

/** The time when space is free again is unknown; an hour keeps clients from retrying in vain. */
const retryAfterSeconds = 3600

/** 429: storage is an allowance like that of a bucket, but of stored items (decision D11). */
export const quotaExceeded = (name: QuotaName, quota: number): ApiError =>
  new ApiError(
    'rate_limit_exceeded',
    `Your organization keeps at most ${quota} ${kept[name]} (quota ${name}). The operator can raise it.`,
    undefined,
    { retryAfterSeconds },
  )
