/** One utterance plays at a time: the next one waits for the voice. */
interface VoiceLock {
  /** Resolves with a function that releases the voice. Rejects when the signal aborts first. */
  take(signal: AbortSignal): Promise<() => void>
}

export const createVoiceLock = (): VoiceLock => {
  let tail: Promise<void> = Promise.resolve()

  return {
    async take(signal) {
      const before = tail
      const { promise, resolve } = Promise.withResolvers<void>()
      tail = promise
      await before
      if (signal.aborted) resolve()
      signal.throwIfAborted()
      return resolve
    },
  }
}
