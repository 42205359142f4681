import { ApiError } from '../contract/api-error.ts'

interface TurnstileOptions {
  /** Works that run at one time. */
  readonly maxInside: number
  /** Works that wait; one more is refused with 429. */
  readonly maxWaiting: number
}

/** Lets a few works run at a time, in the order in which they came. */
export const createTurnstile = ({ maxInside, maxWaiting }: TurnstileOptions) => {
  const waiting: (() => void)[] = []
  let inside = 0

  const enter = async (): Promise<void> => {
    if (inside < maxInside) {
      inside += 1
      return
    }
    if (waiting.length >= maxWaiting)
      throw new ApiError(
        'rate_limit_exceeded',
        'Too many people sign in at this moment. Try again.',
        undefined,
        { retryAfterSeconds: 1 },
      )
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  // Whoever waits longest takes the place; it stays counted.
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else inside -= 1
  }
  return async <T>(work: () => Promise<T>): Promise<T> => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
