/**
 * Finds out about an engine that tells when the callee spoke, but never what was said, as servers without transcription
 * do: then the speech itself has to count as words. One text, however empty, shows that the engine does tell.
 */
export interface UntoldSpeech {
  started(startMs: number): void
  /** The callee has finished; the words of the speech before this one would have come by now. */
  stopped(): void
  told(): void
  /** No text comes any more. */
  end(): void
}

export const createUntoldSpeech = (onUntold: (startMs: number) => void): UntoldSpeech => {
  let isTold = false
  let starts: number[] = []

  const giveUp = (waiting: number): void => {
    const untold = starts.slice(0, starts.length - waiting)
    starts = starts.slice(starts.length - waiting)
    for (const startMs of untold) onUntold(startMs)
  }

  return {
    started(startMs) {
      if (!isTold) starts.push(startMs)
    },
    stopped() {
      if (starts.length > 1) giveUp(1)
    },
    told() {
      isTold = true
      starts = []
    },
    end: () => giveUp(0),
  }
}
