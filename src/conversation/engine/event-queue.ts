/** A bounded queue between callbacks on one side and one `for await` on the other. */
interface EventQueue<T> {
  /** `false` when the queue is full or closed: the event is dropped. */
  push(event: T): boolean
  /** Removes the queued events that match. */
  drop(fits: (event: T) => boolean): void
  /** Accepts no more events; queued events are still delivered. Safe twice. */
  end(): void
  /** For one consumer. */
  readonly events: AsyncIterable<T>
}

/** Holds at most `limit` events that the consumer has not taken yet. */
export const createEventQueue = <T extends object>(limit: number): EventQueue<T> => {
  let queued: T[] = []
  let waiting: ((result: IteratorResult<T>) => void) | undefined
  let isOver = false

  const settle = (result: IteratorResult<T>): boolean => {
    if (!waiting) return false
    const resolve = waiting
    waiting = undefined
    resolve(result)
    return true
  }

  const end = (): void => {
    isOver = true
    settle({ done: true, value: undefined })
  }

  const iterator: AsyncIterator<T> = {
    next() {
      const event = queued.shift()
      if (event) return Promise.resolve({ done: false, value: event })
      if (isOver) return Promise.resolve({ done: true, value: undefined })
      return new Promise((resolve) => {
        waiting = resolve
      })
    },
    return() {
      queued.length = 0
      end()
      return Promise.resolve({ done: true, value: undefined })
    },
  }

  return {
    push(event) {
      if (isOver) return false
      if (settle({ done: false, value: event })) return true
      if (queued.length >= limit) return false
      queued.push(event)
      return true
    },
    drop(fits) {
      queued = queued.filter((event) => !fits(event))
    },
    end,
    events: { [Symbol.asyncIterator]: () => iterator },
  }
}
