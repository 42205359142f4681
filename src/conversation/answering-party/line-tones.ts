import { frameMs } from '../../audio/frame.ts'
import { goertzelPower, pureFrequency } from '../../audio/goertzel.ts'
import { energyOf } from '../../audio/level.ts'

/** The tones of a telephone line. */
export type LineTone =
  /**
   * A voicemail's beep, reported at its end. `isLow`: its pitch is also used by call progress
   * tones.
   */
  | { readonly kind: 'beep'; readonly isLow: boolean }
  /** Busy or congestion: the same tone on and off at least three times (ITU-T E.180). */
  | { readonly kind: 'busy' }
  /** Three rising tones before "the number you have dialled …" (ITU-T E.180). */
  | { readonly kind: 'special_information' }
  /** A fax or modem answers (2100 Hz, ITU-T T.30 CED, V.25) or calls (1100 Hz, CNG). */
  | { readonly kind: 'fax' }

interface LineToneDetector {
  /** The next 160 samples at 8 kHz. About 5 µs for a loud frame, 1 µs for a quiet one. */
  push(frame: Int16Array): LineTone | undefined
}

const quietestEnergy = 200 ** 2
/** A steady tone keeps its pitch; a singing vowel slides. */
const maxDriftHz = 50
/** A lost packet, or the phase reversal of a modem, does not end a tone. */
const maxDropoutMs = 40
const beepMs = { min: 120, max: 2_000 }
/** Dial, ringing and busy tones of Europe and Asia are single tones of 400 to 450 Hz. */
const highestProgressHz = 475

/** One continuous pure tone. */
interface Tone {
  readonly hz: number
  readonly startedAtMs: number
  lastMs: number
}

const lengthOf = ({ startedAtMs, lastMs }: Tone): number => lastMs - startedAtMs

/**
 * Distinguishes the tones of a line. It listens only to the other side, from the answer to the end.
 */
export const createLineToneDetector = (): LineToneDetector => {
  const information = createInformationTone()
  const fax = createFaxTone()
  const busy = createBusyTone()
  let tone: Tone | undefined
  let nowMs = 0

  const ended = (finished: Tone, isFollowedByTone: boolean): LineTone | undefined => {
    if (information.ended(finished)) return { kind: 'special_information' }
    if (fax.ended(finished)) return { kind: 'fax' }
    const lengthMs = lengthOf(finished)
    // Tones in sequence are a melody or an information tone; silence follows a beep.
    if (isFollowedByTone || lengthMs < beepMs.min || lengthMs > beepMs.max) return undefined
    return { kind: 'beep', isLow: finished.hz <= highestProgressHz }
  }

  const follow = (hz: number | undefined): LineTone | undefined => {
    const current = tone
    if (current && hz !== undefined && Math.abs(hz - current.hz) <= maxDriftHz) {
      current.lastMs = nowMs
      return fax.isAnswering(current) ? { kind: 'fax' } : undefined
    }
    const isDropout = current && hz === undefined && nowMs - current.lastMs <= maxDropoutMs
    if (isDropout) return undefined
    tone = hz === undefined ? undefined : { hz, startedAtMs: nowMs - frameMs, lastMs: nowMs }
    return current && ended(current, hz !== undefined)
  }

  return {
    push(frame) {
      nowMs += frameMs
      const energy = energyOf(frame)
      const hz = energy < quietestEnergy ? undefined : pureFrequency(frame)
      const found = follow(hz)
      return busy.push(frame, energy, hz) ? { kind: 'busy' } : found
    },
  }
}

const isNear = (hz: number, wantedHz: number, toleranceHz: number): boolean =>
  Math.abs(hz - wantedHz) <= toleranceHz

/** ITU-T E.180: 950, 1400, 1800 Hz ± 50; the North American tones lie within. */
const informationHz = [950, 1400, 1800]
const informationToleranceHz = 75
const informationMs = { min: 200, max: 480 }
const maxInformationGapMs = 100

const createInformationTone = () => {
  let heard = 0
  let lastEndMs = -Infinity
  return {
    /** Whether this was the third of the three. */
    ended(tone: Tone): boolean {
      if (tone.startedAtMs - lastEndMs > maxInformationGapMs) heard = 0
      const lengthMs = lengthOf(tone)
      const isLong = lengthMs >= informationMs.min && lengthMs <= informationMs.max
      const isNext = isNear(tone.hz, informationHz[heard] ?? 0, informationToleranceHz)
      lastEndMs = tone.lastMs
      heard = isLong && isNext ? heard + 1 : 0
      return heard === informationHz.length
    },
  }
}

const faxAnswer = { hz: 2100, toleranceHz: 30, leastMs: beepMs.max + 200 }
/** Half a second, every three seconds (T.30 4.3.3.2, ± 15 %). */
const faxCall = {
  hz: 1100,
  toleranceHz: 45,
  minMs: 400,
  maxMs: 620,
  minPauseMs: 2500,
  maxPauseMs: 3500,
}

const createFaxTone = () => {
  let lastCallEndMs: number | undefined
  return {
    /** A continuing tone, longer than any beep. */
    isAnswering: (tone: Tone): boolean =>
      isNear(tone.hz, faxAnswer.hz, faxAnswer.toleranceHz) && lengthOf(tone) >= faxAnswer.leastMs,
    ended(tone: Tone): boolean {
      const lengthMs = lengthOf(tone)
      if (!isNear(tone.hz, faxCall.hz, faxCall.toleranceHz)) return false
      if (lengthMs < faxCall.minMs || lengthMs > faxCall.maxMs) return false
      const pauseMs = tone.startedAtMs - (lastCallEndMs ?? -Infinity)
      lastCallEndMs = tone.lastMs
      return pauseMs >= faxCall.minPauseMs && pauseMs <= faxCall.maxPauseMs
    },
  }
}

const busyPairHz = [480, 620] as const
/** Share of the energy that each tone of the pair must have, and both together. */
const leastPairPart = 0.25
const leastPairSum = 0.8
const lowestBusyHz = 390
const busyMs = { min: 160, max: 780 }
const busyRepeats = 3
/** On and off last about equally long, and as long as those before. */
const maxUnevenness = 0.4
/**
 * More energy than this in the pause is speech. Less is a frame in which a pulse begins or ends.
 */
const talkMs = 60

const createBusyTone = () => {
  let isOn = false
  let runMs = 0
  let onMs = 0
  let repeats = 0
  let loudMs = 0

  const isBusyTone = (frame: Int16Array, energy: number, hz: number | undefined): boolean => {
    if (energy < quietestEnergy) return false
    if (hz !== undefined && hz >= lowestBusyHz && hz <= highestProgressHz) return true
    const [one, other] = busyPairHz.map((pairHz) => goertzelPower(frame, pairHz) / energy)
    if (one === undefined || other === undefined) return false
    return one >= leastPairPart && other >= leastPairPart && one + other >= leastPairSum
  }

  const isEven = (aMs: number, bMs: number): boolean =>
    Math.abs(aMs - bMs) <= maxUnevenness * Math.max(aMs, bMs)

  const startOver = (): void => {
    repeats = 0
    onMs = 0
  }

  /** The tone has begun or stopped; the state before lasted `runMs`. */
  const turn = (): void => {
    const isLong = runMs >= busyMs.min && runMs <= busyMs.max
    if (!isLong || (onMs > 0 && !isEven(runMs, onMs))) startOver()
    else if (isOn) {
      onMs = runMs
      repeats += 1
    }
  }

  return {
    push(frame: Int16Array, energy: number, hz: number | undefined): boolean {
      const isTone = isBusyTone(frame, energy, hz)
      loudMs = !isTone && energy >= quietestEnergy ? loudMs + frameMs : 0
      if (loudMs >= talkMs) startOver()
      if (isTone !== isOn) {
        turn()
        isOn = isTone
        runMs = 0
      }
      runMs += frameMs
      return repeats === busyRepeats && !isOn && runMs === frameMs
    },
  }
}
