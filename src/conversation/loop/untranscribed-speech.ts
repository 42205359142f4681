/**
 * Detects an engine that reports speech but never its words, such as a server without
 * transcription: then the speech itself counts as words. One text, even an empty one, shows that
 * the engine does report words.
 */
interface UntranscribedSpeech {
  started(startMs: number): void
  /** The callee has finished; the words of the speech before would have come by now. */
  stopped(): void
  wordsReported(): void
  /** No more text comes. */
  end(): void
}

export const createUntranscribedSpeech = (
  onUntranscribed: (startMs: number) => void,
): UntranscribedSpeech => {
  let reportsWords = false
  let starts: number[] = []

  const giveUp = (waiting: number): void => {
    const untranscribed = starts.slice(0, starts.length - waiting)
    starts = starts.slice(starts.length - waiting)
    for (const startMs of untranscribed) onUntranscribed(startMs)
  }

  return {
    started(startMs) {
      if (!reportsWords) starts.push(startMs)
    },
    stopped() {
      if (starts.length > 1) giveUp(1)
    },
    wordsReported() {
      reportsWords = true
      starts = []
    },
    end: () => giveUp(0),
  }
}
