import {
  extractFeatures,
  featuresPerFrame,
  type UtteranceFeatures,
} from './utterance-matcher-features.ts'

interface UtteranceClip {
  readonly text: string
  /** 8 kHz. */
  readonly samples: Int16Array
}

interface UtteranceMatch {
  readonly text: string
  /** 1 for the clip itself, 0 at the acceptance threshold. */
  readonly confidence: number
}

interface UtteranceMatcher {
  /**
   * The clip that these samples (8 kHz) are a recording of, or `undefined` if there is none. 1.5 ms against 24
   * clips, so too slow for a media tick.
   */
  match(samples: Int16Array): UtteranceMatch | undefined
}

/** Mean distance of two frames along the best path, above which two recordings have different words. */
const greatestDistance = 1.25
/** Two recordings of one clip differ in length only by the cut at their ends. */
const lengthTolerance = 0.15
const lengthToleranceFrames = 8
/** How far the alignment may stray from the diagonal. */
const warpFrames = 12

/**
 * Recognizes clips it has heard before: dynamic time warping over mel cepstra against a closed vocabulary. It
 * replaces a speech recognizer for voices and lines that are known in advance.
 */
export const createUtteranceMatcher = (clips: readonly UtteranceClip[]): UtteranceMatcher => {
  const references = clips.map((clip) => ({
    text: clip.text,
    features: extractFeatures(clip.samples),
  }))
  return {
    match(samples) {
      const heard = extractFeatures(samples)
      let best: { text: string; distance: number } | undefined
      for (const { text, features } of references) {
        if (!haveSimilarLength(heard, features)) continue
        const distance = warpedDistance(heard, features, best?.distance ?? greatestDistance)
        if (distance < (best?.distance ?? greatestDistance)) best = { text, distance }
      }
      return best && { text: best.text, confidence: 1 - best.distance / greatestDistance }
    },
  }
}

const haveSimilarLength = (one: UtteranceFeatures, other: UtteranceFeatures): boolean => {
  const longer = Math.max(one.frameCount, other.frameCount)
  const difference = Math.abs(one.frameCount - other.frameCount)
  return (
    one.frameCount > 0 &&
    other.frameCount > 0 &&
    difference <= Math.max(lengthToleranceFrames, longer * lengthTolerance)
  )
}

/** Mean frame distance along the best path; `Infinity` as soon as it must exceed `limit`. */
const warpedDistance = (
  one: UtteranceFeatures,
  other: UtteranceFeatures,
  limit: number,
): number => {
  const steps = one.frameCount + other.frameCount
  const columns = other.frameCount
  let previous = new Float64Array(columns + 1).fill(Infinity)
  let current = new Float64Array(columns + 1)
  previous[0] = 0
  for (let row = 1; row <= one.frameCount; row += 1) {
    const diagonal = Math.round((row * columns) / one.frameCount)
    const first = Math.max(1, diagonal - warpFrames)
    const last = Math.min(columns, diagonal + warpFrames)
    current.fill(Infinity)
    let leastOfRow = Infinity
    for (let column = first; column <= last; column += 1) {
      const distance = frameDistance(one.rows, row - 1, other.rows, column - 1)
      // A diagonal step moves both ways and weighs twice, so that every path has the same weight.
      const total = Math.min(
        previous[column]! + distance,
        current[column - 1]! + distance,
        previous[column - 1]! + 2 * distance,
      )
      current[column] = total
      if (total < leastOfRow) leastOfRow = total
    }
    if (leastOfRow / steps >= limit) return Infinity
    ;[previous, current] = [current, previous]
  }
  return previous[columns]! / steps
}

const frameDistance = (
  one: Float32Array,
  row: number,
  other: Float32Array,
  column: number,
): number => {
  let sum = 0
  const oneAt = row * featuresPerFrame
  const otherAt = column * featuresPerFrame
  for (let index = 0; index < featuresPerFrame; index += 1) {
    const difference = one[oneAt + index]! - other[otherAt + index]!
    sum += difference * difference
  }
  return Math.sqrt(sum)
}
