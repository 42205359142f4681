import { systemClock, type Clock } from '../runtime/clock.ts'
import { createLatenessMeter, type Lateness } from './lateness.ts'

/**
 * The 20 ms clock of all calls of one thread. Deadlines are absolute, so that lateness never adds up; calls are spread
 * over ten phases of 2 ms, so that their packets do not leave in one burst. One timer serves them all.
 */
export interface Ticker {
  /**
   * Calls `tick` every 20 ms until the returned function is called. A `tick` that throws is removed, and `onError` told:
   * one broken call stops no other.
   */
  add(tick: () => void, onError: (error: unknown) => void): () => void
  /** How late ticks ran within the last ten to twenty seconds. */
  lateness(): Lateness
  /** Frames left out because the thread had stood still for longer than could be caught up. */
  readonly framesSkipped: number
  readonly size: number
  /** Removes everyone. */
  stop(): void
}

export interface TickerOptions {
  readonly clock?: Clock
  /** Calls back after some milliseconds; returns what cancels it. */
  readonly schedule?: (callback: () => void, ms: number) => () => void
}

export const framePeriodMs = 20
export const phaseCount = 10
const phaseMs = framePeriodMs / phaseCount

/** A thread that stood still catches up this far, 100 ms, by ticking faster; what is older is skipped. */
export const maxCatchUpFrames = 5

const maxCatchUpSlots = maxCatchUpFrames * phaseCount

interface Subscriber {
  readonly tick: () => void
  readonly onError: (error: unknown) => void
}

export const createTicker = ({
  clock = systemClock,
  schedule = scheduleWithTimeout,
}: TickerOptions = {}): Ticker => {
  const phases = Array.from({ length: phaseCount }, () => new Set<Subscriber>())
  const meter = createLatenessMeter()
  const epochMs = clock.monotonicMs()
  /** Slots of 2 ms since the epoch; slot n belongs to phase n % 10. */
  let nextSlot = 0
  let size = 0
  let framesSkipped = 0
  let cancelTimer: (() => void) | undefined

  const nowSlot = (): number => Math.floor((clock.monotonicMs() - epochMs) / phaseMs)
  const deadlineMs = (slot: number): number => epochMs + slot * phaseMs

  const skipWhatIsTooOld = (now: number): void => {
    const behind = now - nextSlot
    if (behind <= maxCatchUpSlots) return
    for (let slot = nextSlot; slot < now - maxCatchUpSlots; slot += phaseCount)
      framesSkipped += size
    nextSlot = now - maxCatchUpSlots
  }

  const runSlot = (slot: number): void => {
    const subscribers = phases[slot % phaseCount]!
    if (subscribers.size === 0) return
    meter.record(clock.monotonicMs() - deadlineMs(slot), clock.monotonicMs())
    for (const subscriber of subscribers) {
      try {
        subscriber.tick()
      } catch (error) {
        if (subscribers.delete(subscriber)) size--
        subscriber.onError(error)
      }
    }
  }

  const runDue = (): void => {
    cancelTimer = undefined
    skipWhatIsTooOld(nowSlot())
    // The present moment is read once: a thread that cannot keep up must still get back to its event loop.
    const last = nowSlot()
    for (; nextSlot <= last && size > 0; nextSlot++) runSlot(nextSlot)
    arm()
  }

  const arm = (): void => {
    if (size === 0 || cancelTimer) return
    let slot = nextSlot
    while (phases[slot % phaseCount]!.size === 0) slot++
    cancelTimer = schedule(runDue, Math.max(1, Math.ceil(deadlineMs(slot) - clock.monotonicMs())))
  }

  const rearm = (): void => {
    cancelTimer?.()
    cancelTimer = undefined
    arm()
  }

  return {
    add(tick, onError) {
      if (size === 0) nextSlot = nowSlot() + 1
      const phase = phases.reduce((least, each) => (each.size < least.size ? each : least))
      const subscriber: Subscriber = { tick, onError }
      phase.add(subscriber)
      size++
      rearm()
      return () => {
        if (phase.delete(subscriber)) size--
      }
    },
    lateness: () => meter.read(clock.monotonicMs()),
    get framesSkipped() {
      return framesSkipped
    },
    get size() {
      return size
    },
    stop() {
      for (const phase of phases) phase.clear()
      size = 0
      cancelTimer?.()
      cancelTimer = undefined
    },
  }
}

const scheduleWithTimeout = (callback: () => void, ms: number): (() => void) => {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}
