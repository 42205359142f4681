import { setTimeout as delay } from 'node:timers/promises'

interface LastWordsOptions {
  /** The callee was speaking when the call ended. */
  readonly isSpeaking: boolean
  /** Lets the engine hear 20 ms of silence. */
  hearSilence(): void
  /** Every word that was heard has been reported. */
  isSettled(): boolean
  /** The engine sends nothing more. */
  isEngineOver(): boolean
}

/** Silence fed to the engine at the end, so that it treats the last words as finished. */
const closingSilenceFrames = 40
const limitMs = 2_000
const pollMs = 20
/** How long an engine may take to notice that the callee has been speaking. */
const noticingMs = 300

/** Waits until the engine has reported every word it heard, two seconds at most. */
export const awaitLastWords = async (options: LastWordsOptions): Promise<void> => {
  const { isSpeaking } = options
  if (isSpeaking || !options.isSettled()) {
    for (let count = 0; count < closingSilenceFrames; count += 1) options.hearSilence()
  }
  const leastMs = isSpeaking ? noticingMs : 0
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += pollMs) {
    if (options.isEngineOver()) return
    if (options.isSettled() && waitedMs >= leastMs) return
    await delay(pollMs)
  }
}
