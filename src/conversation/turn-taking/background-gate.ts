import { frameMs } from '../../audio/frame.ts'

/**
 * Keeps a television in the callee's room from the engine: while somebody speaks in the background, only sound that is
 * as near as the callee passes.
 */
interface BackgroundGate {
  /** The next frame. Returns whether the engine hears it. */
  push(isVoiced: boolean, isNear: boolean): boolean
  /** Whether somebody speaks in the background. */
  readonly isActive: boolean
}

/** So much voice in the background means that it goes on. */
const activeMs = 400
const mostMs = 3_000
/** After the callee's own voice: the soft end of a word. */
const tailMs = 240

export const createBackgroundGate = (): BackgroundGate => {
  let backgroundMs = 0
  let sinceNearMs = Infinity
  return {
    push(isVoiced, isNear) {
      sinceNearMs = isNear ? 0 : sinceNearMs + frameMs
      const isBackground = isVoiced && sinceNearMs > tailMs
      backgroundMs = isBackground
        ? Math.min(mostMs, backgroundMs + frameMs)
        : Math.max(0, backgroundMs - frameMs / 4)
      return backgroundMs < activeMs || sinceNearMs <= tailMs
    },
    get isActive() {
      return backgroundMs >= activeMs
    },
  }
}
