/** Whether the callee is speaking, or their words are outstanding, according to the server. */
export interface SpeechState {
  /**
   * Speech began. Returns its time: that of the earlier speech which it continues, if that began before the last
   * session was lost; undefined if it was reported before.
   */
  started(atMs: number): number | undefined
  stopped(nowMs: number): void
  /** Words arrived for the speech that began then. Returns the reported time of that speech. */
  understood(startMs: number): number
  /** The session is lost. `true` if speech was in progress. */
  lost(nowMs: number): boolean
  /** Start of the speech whose words are outstanding. */
  readonly openSinceMs: number | undefined
  isQuiet(nowMs: number): boolean
}

/** Words that have not arrived this long after the speech will not arrive. */
const wordsLimitMs = 5_000
/** A little before the first voiced sound: a soft consonant begins a word. */
const prefixMs = 300
/** Another session hears the same speech begin at nearly the same time. */
const sameSpeechMs = 1_500

export const createSpeechState = (): SpeechState => {
  let startMs: number | undefined
  let stoppedAtMs: number | undefined
  /** The speech that a lost session had begun to hear, and the time at which the next session hears it begin. */
  let carried: { readonly reportedMs: number; heardMs: number | undefined } | undefined

  return {
    started(atMs) {
      stoppedAtMs = undefined
      const isSame =
        carried?.heardMs === undefined &&
        Math.abs((carried?.reportedMs ?? -Infinity) - atMs) < sameSpeechMs
      if (carried && isSame) {
        carried.heardMs = atMs
        startMs = carried.reportedMs
        return undefined
      }
      startMs = atMs
      return atMs
    },
    stopped(nowMs) {
      stoppedAtMs = nowMs
    },
    understood(heardStartMs) {
      const reportedMs =
        carried && carried.heardMs === heardStartMs ? carried.reportedMs : heardStartMs
      if (reportedMs === startMs) startMs = undefined
      if (reportedMs === carried?.reportedMs) carried = undefined
      return reportedMs
    },
    lost(nowMs) {
      const isSpeaking = startMs !== undefined && stoppedAtMs === undefined
      carried = startMs === undefined ? undefined : { reportedMs: startMs, heardMs: undefined }
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
