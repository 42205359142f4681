import { peakOf } from './level.ts'

/** Collects the waveform of one lane from its stream: the loudest sample of each window. */
interface PeakMeter {
  add(samples: Int16Array): void
  /** One value of 0 to 1 per window, with three decimals; a last, shorter window counts too. */
  finish(): number[]
}

/** 100 ms at 8 kHz: five minutes are 3,000 values, more than a screen has columns. */
const defaultPeakWindowSamples = 800

export const createPeakMeter = (windowSamples: number = defaultPeakWindowSamples): PeakMeter => {
  const peaks: number[] = []
  let filled = 0
  let loudest = 0

  const endWindow = (): void => {
    peaks.push(Math.round((loudest / 32_768) * 1000) / 1000)
    filled = 0
    loudest = 0
  }

  return {
    add(samples) {
      for (let at = 0; at < samples.length;) {
        const part = samples.subarray(at, at + windowSamples - filled)
        loudest = Math.max(loudest, peakOf(part))
        filled += part.length
        at += part.length
        if (filled === windowSamples) endWindow()
      }
    },
    finish() {
      if (filled > 0) endWindow()
      return peaks
    },
  }
}
