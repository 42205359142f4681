/** A server of models failed, refused or was too slow. The message holds no key and nothing that was said. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  /** `transcription_failed`, `model_failed`, `speech_failed`, each also with `_timeout`. */
  readonly code: string
  readonly status: number | undefined
  constructor(code: string, message: string, options: ErrorOptions & { status?: number } = {}) {
    super(message, options)
    this.code = code
    this.status = options.status
  }
}

/** Whether asking again may help: it is not our request that is wrong. */
export const isWorthRetrying = (error: unknown): boolean =>
  !(error instanceof ProviderError) ||
  error.status === undefined ||
  error.status === 429 ||
  error.status >= 500

/** Whether this status is what servers say to a member of the request they do not take. */
export const isRefusal = (status: number): boolean =>
  status === 400 || status === 415 || status === 422

/**
 * The promise, or a `ProviderError` with this code after so long.
 * @param giveUp called when the time is over, to let go of what is waited for
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
