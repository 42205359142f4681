/** Whether the callee is speaking, or their words are outstanding, by what the server reports. */
export interface SpeechState {
  /**
   * Speech began. Returns the time to give it: that of the speech it goes on with, if it began before the last session
   * was lost; undefined if that was reported before.
   */
  started(atMs: number): number | undefined
  stopped(nowMs: number): void
  /** Words came for the speech that began then. Returns the time under which that speech is known. */
  understood(startMs: number): number
  /** The session is lost. `true` if speech was going on. */
  lost(nowMs: number): boolean
  /** Begin of the speech whose words are outstanding. */
  readonly openSinceMs: number | undefined
  isQuiet(nowMs: number): boolean
}

/** Words that have not come this long after the speech do not come. */
const wordsLimitMs = 5_000
/** A little from before the first voiced sound: a soft consonant begins a word. */
const prefixMs = 300
/** Another session hears the same speech begin at nearly the same time. */
const sameSpeechMs = 1_500

export const createSpeechState = (): SpeechState => {
  let startMs: number | undefined
  let stoppedAtMs: number | undefined
  /** The speech that a lost session had begun to hear, and the time at which the next one hears it begin. */
  let carried: { readonly toldMs: number; heardMs: number | undefined } | undefined

  return {
    started(atMs) {
      stoppedAtMs = undefined
      const isSame =
        carried?.heardMs === undefined &&
        Math.abs((carried?.toldMs ?? -Infinity) - atMs) < sameSpeechMs
      if (carried && isSame) {
        carried.heardMs = atMs
        startMs = carried.toldMs
        return undefined
      }
      startMs = atMs
      return atMs
    },
    stopped(nowMs) {
      stoppedAtMs = nowMs
    },
    understood(heardStartMs) {
      const toldMs = carried && carried.heardMs === heardStartMs ? carried.toldMs : heardStartMs
      if (toldMs === startMs) startMs = undefined
      if (toldMs === carried?.toldMs) carried = undefined
      return toldMs
    },
    lost(nowMs) {
      const isSpeaking = startMs !== undefined && stoppedAtMs === undefined
      carried = startMs === undefined ? undefined : { toldMs: startMs, heardMs: undefined }
      stoppedAtMs ??= nowMs
      return isSpeaking
    },
    get openSinceMs() {
      return startMs === undefined ? undefined : Math.max(0, startMs - prefixMs)
    },
    isQuiet: (nowMs) =>
      startMs === undefined || (stoppedAtMs !== undefined && nowMs - stoppedAtMs > wordsLimitMs),
  }
}
