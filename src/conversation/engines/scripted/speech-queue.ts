/** Makes speech one sentence at a time, the one that is due first before the others; sockets and timers run in between. */
export interface SpeechQueue {
  /** `dueMs`, by `performance.now()`: when what was said before has been heard; `Infinity`: nothing was. Each waiting response adds one. */
  add(dueMs: number, make: () => void): void
}

/**
 * A sentence that was not said before blocks the thread for some 50 ms. Fifty calls that are answered at once make two
 * seconds of that: in the order of their arrival, those who speak already would fall silent meanwhile.
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
