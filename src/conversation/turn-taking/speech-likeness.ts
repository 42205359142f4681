import { frameMs } from '../../audio/frame.ts'
import { energyOf } from '../../audio/level.ts'

/** Distinguishes a voice that speaks from coughs, barks, music and machines, by half a second of sound. */
export interface SpeechLikeness {
  /** The next 20 ms of a sound (160 samples at 8 kHz); about 25 µs. */
  push(frame: Int16Array, isVoiced: boolean): void
  /** How much voice was heard since `restart`. */
  readonly voicedMs: number
  /** Whether what was heard since `restart` is a person who speaks. */
  readonly isSpeech: boolean
  /** Whether it is a voice with closed lips ("mm-hmm"). */
  readonly isHum: boolean
  restart(): void
}

const frameSamples = 160
/** Half of 8 kHz: enough for the pitch of a voice, at a quarter of the cost. */
const decimation = 2
/** 333 to 70 Hz at 4 kHz. */
const shortestLag = 12
const longestLag = 57
/** 667 Hz: what is higher than a speaker's voice must be found, or its half is taken for one. */
const highestPitchLag = 6
const leastPeriodicity = 0.6
/** A longer period must fit clearly better than a shorter one. */
const clearlyBetter = 0.03
/** In speech, a third of the voiced frames and more have the period of a voice; in coughs and barks none. */
const leastVoicedPart = 0.35
/** Between syllables the level falls by 13 dB; that of music and sirens does not. */
const dipRatio = 1 / 20
const leastDipPart = 0.045
/** A note keeps its pitch exactly; a voice glides. */
const mostSteadyPart = 0.88
/** A hum has almost no sound above 1 kHz: its sign changes seldom. */
const humCrossings = 16
const leastHumPart = 0.8
/** A vowel changes its sign less often in 20 ms; a crying child does not. */
const shrillCrossings = 40
const leastFrames = 8
/** Only this much is judged: 4 s. */
const mostFrames = 200

export const createSpeechLikeness = (): SpeechLikeness => {
  const window = new Float64Array((2 * frameSamples) / decimation)
  let energies: number[] = []
  let voiced = 0
  let periodic = 0
  let steady = 0
  let pairs = 0
  let low = 0
  let lastLag = 0

  return {
    push(frame, isVoiced) {
      if (energies.length >= mostFrames) return
      shift(window, frame)
      energies.push(energyOf(frame))
      if (!isVoiced) {
        lastLag = 0
        return
      }
      voiced += 1
      const crossings = crossingsOf(frame)
      if (crossings <= humCrossings) low += 1
      const lag = periodOf(window)
      if (lag >= shortestLag && crossings <= shrillCrossings) periodic += 1
      if (lag > 0 && lastLag > 0) {
        pairs += 1
        if (lag === lastLag) steady += 1
      }
      lastLag = lag
    },
    get voicedMs() {
      return voiced * frameMs
    },
    get isSpeech() {
      if (voiced < leastFrames) return false
      const peak = Math.max(...energies)
      const dips = energies.filter((energy) => energy < peak * dipRatio).length
      return (
        periodic >= voiced * leastVoicedPart &&
        dips >= energies.length * leastDipPart &&
        steady <= pairs * mostSteadyPart
      )
    },
    get isHum() {
      return voiced >= leastFrames && low >= voiced * leastHumPart
    },
    restart() {
      energies = []
      voiced = 0
      periodic = 0
      steady = 0
      pairs = 0
      low = 0
      lastLag = 0
    },
  }
}

/** The window of 40 ms moves on by one frame, at half the rate. */
const shift = (window: Float64Array, frame: Int16Array): void => {
  const step = frameSamples / decimation
  window.copyWithin(0, step)
  for (let at = 0; at < step; at += 1)
    window[step + at] = (frame[at * decimation]! + frame[at * decimation + 1]!) / 2
}

/** The period of the sound in samples at 4 kHz; 0 if it has none. */
const periodOf = (window: Float64Array): number => {
  let best = leastPeriodicity
  let found = 0
  for (let lag = highestPitchLag; lag <= longestLag; lag += 1) {
    const similarity = similarityAt(window, lag)
    if (similarity <= best + (found > 0 ? clearlyBetter : 0)) continue
    best = similarity
    found = lag
  }
  return found
}

const similarityAt = (window: Float64Array, lag: number): number => {
  let product = 0
  let one = 0
  let other = 0
  for (let at = 0; at + lag < window.length; at += 1) {
    const [first, second] = [window[at]!, window[at + lag]!]
    product += first * second
    one += first * first
    other += second * second
  }
  return product / Math.sqrt(one * other + 1)
}

const crossingsOf = (frame: Int16Array): number => {
  let crossings = 0
  for (let at = 1; at < frame.length; at += 1)
    if (frame[at - 1]! < 0 !== frame[at]! < 0) crossings += 1
  return crossings
}
