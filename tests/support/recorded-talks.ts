import type { TalkSource } from '../../src/console/live/audio-doors.ts'

type Begun = Parameters<TalkSource['begin']>

/** Talks whose agent is the test: it has what was begun and heard, and says what it likes. */
export const createRecordedTalks = () => {
  const begun: { request: Begun[0]; listener: Begun[1]; heard: Uint8Array[]; left: boolean }[] = []
  const state: { problem: string | undefined } = { problem: undefined }
  const source: TalkSource = {
    problemOf: () => state.problem,
    begin: (request, listener) => {
      const talk = { request, listener, heard: new Array<Uint8Array>(), left: false }
      begun.push(talk)
      return {
        hear: (g711) => void talk.heard.push(g711),
        leave: () => {
          talk.left = true
        },
      }
    },
  }
  return { begun, state, source }
}
