import { setTimeout as delay } from 'node:timers/promises'

/** A model server failed, refused or was too slow. The message contains no key and no spoken words. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  /** `transcription_failed`, `model_failed`, `speech_failed`, each also with `_timeout`. */
  readonly code: string
  readonly status: number | undefined
  /** How long the server wants us to wait before the next request. */
  readonly retryAfterMs: number | undefined
  constructor(code: string, message: string, options: ProviderErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
  }
}

interface ProviderErrorOptions extends ErrorOptions {
  readonly status?: number
  readonly retryAfterMs?: number
}

/** From an unsuccessful response: its status, and when to retry (RFC 9110 10.2.3). */
export const refusalOf = (
  status: number,
  retryAfter: string | null | undefined,
): ProviderErrorOptions => {
  const seconds = /^\d{1,9}(?:\.\d+)?$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined
  const afterMs =
    seconds === undefined ? Date.parse(retryAfter ?? '') - Date.now() : seconds * 1_000
  return Number.isNaN(afterMs) ? { status } : { status, retryAfterMs: Math.max(0, afterMs) }
}

/** Whether a retry may help, because our request is not at fault. */
export const isWorthRetrying = (error: unknown): boolean =>
  !(error instanceof ProviderError) ||
  error.status === undefined ||
  error.status === 429 ||
  error.status >= 500

/** A callee does not wait longer for an overloaded server. */
const longestRetryWaitMs = 4_000
const maxAttempts = 2
/** A retry time given by the server is followed twice. */
const maxTimedAttempts = 3
const congestedWaitMs = 500

/** How long to wait before the next attempt; `undefined` if none makes sense. */
const retryWaitMs = (error: unknown, attempts: number): number | undefined => {
  if (!isWorthRetrying(error)) return undefined
  const { status, retryAfterMs } = error instanceof ProviderError ? error : {}
  if (retryAfterMs === undefined) {
    if (attempts >= maxAttempts) return undefined
    return status === 429 ? congestedWaitMs : 0
  }
  if (attempts >= maxTimedAttempts || retryAfterMs > longestRetryWaitMs) return undefined
  return retryAfterMs
}

/**
 * Retries temporary failures: once at once, or at the time the server gives. Rejects with the last error, or with
 * the signal's reason.
 */
export const withRetries = async <T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  mayRetry: () => boolean = () => true,
): Promise<T> => {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt()
    } catch (error) {
      const waitMs = signal.aborted || !mayRetry() ? undefined : retryWaitMs(error, attempts)
      if (waitMs === undefined) throw error
      if (waitMs > 0) await delay(waitMs, undefined, { signal })
    }
  }
}

/** Whether servers return this status for a request with an unsupported member. */
export const isRefusal = (status: number): boolean =>
  status === 400 || status === 415 || status === 422

/**
 * The promise, or a `ProviderError` with this code after the timeout.
 * @param giveUp called at the timeout, to abort the work
 */
export const withinLimit = async <T>(
  promise: Promise<T>,
  limitMs: number,
  code: string,
  giveUp: () => void = () => {},
): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(new ProviderError(code, `No answer came within ${limitMs} ms.`))
    giveUp()
  }, limitMs)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
