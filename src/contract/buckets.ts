/** The five independent request allowances of an organization (D11). */
export const buckets = ['read', 'write', 'execution', 'transcript', 'recording'] as const

export type Bucket = (typeof buckets)[number]

/** Requests per bucket in one window. */
export type RateLimits = Readonly<Record<Bucket, number>>

/** Length of a rate-limit window (D11). */
export const rateWindowSeconds = 60

/** An organization's allowances unless configured (D11). */
export const defaultRateLimits: RateLimits = {
  read: 6000,
  write: 1500,
  execution: 600,
  transcript: 1200,
  recording: 1200,
}
