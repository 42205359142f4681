/**
 * Remembers when the callee began to speak, to date the turns that an engine reports by its own
 * clock.
 */
interface SpeechOnsets {
  add(atMs: number): void
  /** The onset nearest to the engine's time, if one is near enough; else the engine's time. */
  nearest(engineMs: number): number
}

/** Engines date speech back by up to 300 ms and notice it some hundred ms late. */
const greatestDifferenceMs = 800
const maxOnsets = 64

export const createSpeechOnsets = (): SpeechOnsets => {
  const onsets: number[] = []
  return {
    add(atMs) {
      onsets.push(atMs)
      if (onsets.length > maxOnsets) onsets.shift()
    },
    nearest(engineMs) {
      const distance = (onset: number): number => Math.abs(onset - engineMs)
      let best: number | undefined
      for (const onset of onsets) {
        if (best === undefined || distance(onset) < distance(best)) best = onset
      }
      return best !== undefined && distance(best) <= greatestDifferenceMs ? best : engineMs
    },
  }
}
