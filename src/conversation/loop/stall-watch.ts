import { frameMs } from '../../audio/frame.ts'

/** Detects an engine that began an utterance, did not finish it, and sends nothing. */
interface StallWatch {
  /** One tick; `isDry`: the playing utterance has run out of audio before its end. */
  tick(isDry: boolean): StallVerdict | undefined
}

/** `drop`: the utterance is over; `fail`: the engine has stalled too often. */
type StallVerdict = 'drop' | 'fail'

const stallLimitMs = 1_500
const maxStalls = 3

export const createStallWatch = (): StallWatch => {
  let stalledMs = 0
  let stalls = 0

  return {
    tick(isDry) {
      stalledMs = isDry ? stalledMs + frameMs : 0
      if (stalledMs < stallLimitMs) return undefined
      stalledMs = 0
      stalls += 1
      return stalls >= maxStalls ? 'fail' : 'drop'
    },
  }
}
