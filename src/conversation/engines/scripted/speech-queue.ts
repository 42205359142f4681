/**
 * Synthesizes one sentence at a time, the one due first before the others; sockets and timers run
 * in between.
 */
export interface SpeechQueue {
  /**
   * `dueMs`, by `performance.now()`: when the earlier audio has been played; `Infinity`: nothing
   * was sent. Each waiting response adds one.
   */
  add(dueMs: number, make: () => void): void
}

/**
 * A sentence that is not in the cache blocks the thread for some 50 ms. Fifty calls answered at
 * once make more than two seconds of that; in order of arrival, calls that already speak would fall
 * silent meanwhile.
 */
export const createSpeechQueue = (): SpeechQueue => {
  const waiting: { readonly dueMs: number; readonly make: () => void }[] = []

  const makeNext = (): void => {
    const first = waiting.reduce((earliest, { dueMs }) => Math.min(earliest, dueMs), Infinity)
    const at = waiting.findIndex(({ dueMs }) => dueMs === first)
    const [next] = waiting.splice(at, 1)
    if (waiting.length > 0) setImmediate(makeNext)
    next?.make()
  }

  return {
    add: (dueMs, make) => {
      waiting.push({ dueMs, make })
      if (waiting.length === 1) setImmediate(makeNext)
    },
  }
}
