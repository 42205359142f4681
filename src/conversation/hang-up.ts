import type { HangUpReason } from './conversation-types.ts'

/** Ends the call once what the agent has still to say was heard. */
export interface HangUp {
  /**
   * The call is to end. Only the first request counts.
   * @param awaitsSpeech the goodbye was asked for, but has yet to come from the engine
   * @param limitMs when the call ends at the latest
   */
  request(reason: HangUpReason, options: { awaitsSpeech: boolean; limitMs: number }): void
  /** The call ends now. Only the first of all ends counts. */
  now(reason: HangUpReason): void
  /** One tick; `isBusy`: the agent has something to say. */
  tick(isBusy: boolean): void
  readonly isPending: boolean
  /** Whether speech that begins now would come after the goodbye. */
  readonly isSpeechOver: boolean
  readonly reason: HangUpReason | undefined
}

export const longestGoodbyeMs = 30_000

const frameMs = 20
/** The last packets are still on their way when the last frame was sent. */
const tailMs = 200
/** An engine that has not begun its goodbye by then will not. */
const speechDelayLimitMs = 5_000

interface Pending {
  readonly reason: HangUpReason
  readonly awaitsSpeech: boolean
  readonly limitMs: number
  waitedMs: number
  quietMs: number
  hasSpoken: boolean
}

export const createHangUp = (onHangUp: (reason: HangUpReason) => void): HangUp => {
  let pending: Pending | undefined
  let reason: HangUpReason | undefined

  const end = (endReason: HangUpReason): void => {
    if (reason) return
    reason = endReason
    onHangUp(endReason)
  }

  const isTime = ({ awaitsSpeech, limitMs, waitedMs, quietMs, hasSpoken }: Pending): boolean => {
    if (waitedMs >= limitMs) return true
    if (awaitsSpeech && !hasSpoken) return waitedMs >= speechDelayLimitMs
    return quietMs >= tailMs
  }

  return {
    request(requested, { awaitsSpeech, limitMs }) {
      const state = { waitedMs: 0, quietMs: 0, hasSpoken: false }
      pending ??= { reason: requested, awaitsSpeech, limitMs, ...state }
    },
    now: end,
    tick(isBusy) {
      if (!pending || reason) return
      pending.waitedMs += frameMs
      pending.quietMs = isBusy ? 0 : pending.quietMs + frameMs
      pending.hasSpoken ||= isBusy
      if (isTime(pending)) end(pending.reason)
    },
    get isPending() {
      return pending !== undefined || reason !== undefined
    },
    get isSpeechOver() {
      if (reason) return true
      return pending !== undefined && (!pending.awaitsSpeech || pending.hasSpoken)
    },
    get reason() {
      return reason
    },
  }
}
