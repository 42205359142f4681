import type { PartialTurn } from '../../conversation/loop/conversation-types.ts'

/** Reports the agent's words while they are spoken. */
export interface WordsReport {
  readonly isOn: boolean
  turn(isOn: boolean): void
  /** Call it once in each frame. */
  tick(frames: number, source: WordsSource | undefined): void
}

interface WordsSource {
  agentWords(): PartialTurn | undefined
}

/** Five times a second: a word takes about as long. */
const reportFrames = 10

/** Off until it is turned on. What has not changed is not reported again. */
export const createWordsReport = (post: (words: PartialTurn | undefined) => void): WordsReport => {
  let isOn = false
  let reported: string | undefined
  return {
    get isOn() {
      return isOn
    },
    turn: (wanted) => {
      isOn = wanted
      reported = undefined
    },
    tick: (frames, source) => {
      if (frames % reportFrames !== 0) return
      const words = source?.agentWords()
      if (words?.text === reported) return
      reported = words?.text
      post(words)
    },
  }
}
