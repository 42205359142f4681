import { frameMs } from '../../audio/frame.ts'

/** Notices an engine that began to speak, did not finish, and sends nothing. */
export interface StallWatch {
  /** One tick; `isDry`: the utterance being played has run out before its end. */
  tick(isDry: boolean): StallVerdict | undefined
}

/** `drop`: what it was saying is over; `fail`: it has stalled too often. */
export type StallVerdict = 'drop' | 'fail'

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
