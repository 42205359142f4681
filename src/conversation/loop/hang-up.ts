import { frameMs } from '../../audio/frame.ts'
import type { HangUpReason } from '../../call-text/hang-up-reason.ts'
import type { CallPhase } from './phases.ts'

interface Goodbye {
  /** The goodbye was requested, but has not come from the engine yet. */
  readonly awaitsSpeech: boolean
  /** When the call ends at the latest. */
  readonly limitMs: number
}

export const longestGoodbyeMs = 30_000

/** When the last frame was sent, the last packets are still on their way. */
const tailMs = 200
/** An engine that has not begun its goodbye by then will not begin it. */
const speechDelayLimitMs = 5_000

interface Pending extends Goodbye {
  readonly reason: HangUpReason
  waitedMs: number
  quietMs: number
  hasSpoken: boolean
}

/** Ends a call: at once, or after the agent's last words. */
export class HangUp {
  readonly #phase: CallPhase
  readonly #onHangUp: (reason: HangUpReason) => void
  #pending: Pending | undefined
  #reason: HangUpReason | undefined

  constructor(phase: CallPhase, onHangUp: (reason: HangUpReason) => void) {
    this.#phase = phase
    this.#onHangUp = onHangUp
  }

  /** The reason for which this side hung up; undefined until it does. */
  get reason(): HangUpReason | undefined {
    return this.#reason
  }

  /** Whether speech that begins now would come after the goodbye. */
  get isSpeechOver(): boolean {
    return this.#pending !== undefined && (!this.#pending.awaitsSpeech || this.#pending.hasSpoken)
  }

  /** Ends the call after the agent's last words. Only the first request counts. */
  request(reason: HangUpReason, goodbye: Goodbye): void {
    this.#phase.enter('goodbye')
    this.#pending ??= { reason, ...goodbye, waitedMs: 0, quietMs: 0, hasSpoken: false }
  }

  /** Ends the call now. Does nothing when the call is over. */
  now(reason: HangUpReason): void {
    if (!this.#phase.enter('over')) return
    this.#reason = reason
    this.#onHangUp(reason)
  }

  /** One tick; `isBusy`: the agent has speech to play. */
  tick(isBusy: boolean): void {
    const pending = this.#pending
    if (!pending) return
    pending.waitedMs += frameMs
    pending.quietMs = isBusy ? 0 : pending.quietMs + frameMs
    pending.hasSpoken ||= isBusy
    if (isTimeToEnd(pending)) this.now(pending.reason)
  }
}

const isTimeToEnd = (pending: Pending): boolean => {
  const { awaitsSpeech, limitMs, waitedMs, quietMs, hasSpoken } = pending
  if (waitedMs >= limitMs) return true
  if (awaitsSpeech && !hasSpoken) return waitedMs >= speechDelayLimitMs
  return quietMs >= tailMs
}
