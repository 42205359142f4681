/** A task exceeded its time limit. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/**
 * The promise's own result, or a `DeadlineError` with the sentence after `limitMs`. The task continues, but its
 * result is ignored.
 */
export const within = async <T>(
  limitMs: number,
  sentence: string,
  promise: Promise<T>,
): Promise<T> => {
  const deadline = Promise.withResolvers<never>()
  const timer = setTimeout(() => deadline.reject(new DeadlineError(sentence)), limitMs)
  try {
    return await Promise.race([promise, deadline.promise])
  } finally {
    clearTimeout(timer)
  }
}
