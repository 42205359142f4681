import { pureToneHz } from '../audio/voice-activity-tone.ts'

/** Hears the beep of a voicemail: one pure, steady tone. */
export interface BeepDetector {
  /** Takes the next 20 ms (160 samples at 8 kHz); `true` in the frame in which a beep is certain, once per beep. */
  push(frame: Int16Array): boolean
}

/** 240 ms. Shorter are key tones and clicks; speech never holds one pure pitch that long. */
const beepFrames = 12
const greatestDriftHz = 20

export const createBeepDetector = (): BeepDetector => {
  let steadyFrames = 0
  let lastHz = 0
  return {
    push(frame) {
      const hertz = pureToneHz(frame)
      const isSteady = hertz !== undefined && Math.abs(hertz - lastHz) <= greatestDriftHz
      steadyFrames = hertz === undefined ? 0 : isSteady ? steadyFrames + 1 : 1
      lastHz = hertz ?? 0
      return steadyFrames === beepFrames
    },
  }
}
