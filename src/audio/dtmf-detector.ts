import { energyOf } from './level.ts'
import { goertzelPower } from './goertzel.ts'

/** Detects the keys of a telephone in audio at 8 kHz. */
export interface DtmfDetector {
  /** The next 20 ms; returns the digit once for each press. */
  push(frame: Int16Array): string | undefined
}

const rowsHz = [697, 770, 852, 941]
const columnsHz = [1209, 1336, 1477, 1633]
const keys = ['123A', '456B', '789C', '*0#D']

/** ITU-T Q.24: a receiver may require 40 ms, and -29 dBm0 must be heard: about 600 of 32,768. */
const leastFrames = 2
const quietestEnergy = 500 ** 2
/** Share of the energy in the two tones; a voice spreads its energy over harmonics. */
const purity = 0.8
/** Between both tones, 10 dB. */
const maxTwist = 10
/** A press ends with this many frames without it, so that a lost packet makes no second press. */
const gapFrames = 2

export const createDtmfDetector = (): DtmfDetector => {
  let candidate: string | undefined
  let frames = 0
  let reported: string | undefined
  let gap = 0

  return {
    push(frame) {
      const digit = digitIn(frame)
      frames = digit !== undefined && digit === candidate ? frames + 1 : 1
      candidate = digit
      if (digit === undefined || digit !== reported) gap += 1
      else gap = 0
      if (gap >= gapFrames) reported = undefined
      if (digit === undefined || frames < leastFrames || digit === reported) return undefined
      reported = digit
      gap = 0
      return digit
    },
  }
}

const digitIn = (frame: Int16Array): string | undefined => {
  const energy = energyOf(frame)
  if (energy < quietestEnergy) return undefined
  const row = strongest(frame, rowsHz)
  const column = strongest(frame, columnsHz)
  if (row.power + column.power < purity * energy) return undefined
  const twist = row.power / Math.max(1, column.power)
  if (twist > maxTwist || twist < 1 / maxTwist) return undefined
  return keys[row.index]?.[column.index]
}

const strongest = (
  frame: Int16Array,
  frequenciesHz: readonly number[],
): { readonly index: number; readonly power: number } => {
  let best = { index: 0, power: -1 }
  for (const [index, frequencyHz] of frequenciesHz.entries()) {
    const power = goertzelPower(frame, frequencyHz)
    if (power > best.power) best = { index, power }
  }
  return best
}
