/**
 * Notices an engine that reports when the callee spoke, but never what was said, as servers without transcription
 * do: then the speech itself counts as words. One text, even an empty one, shows that the engine does report words.
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
