import { systemTime, type Time } from '../runtime/time.ts'
import { createLatenessMeter, type Lateness } from './lateness.ts'

/** The 20 ms clock of the calls of one thread. */
export interface Ticker {
  /**
   * Calls `tick` every 20 ms until the returned function is called. A `tick` that throws is removed and reported to
   * `onError`, so that one broken call stops no other.
   */
  add(tick: () => void, onError: (error: unknown) => void): () => void
  /** The lateness of ticks in the last ten to twenty seconds. */
  lateness(): Lateness
  /** Frames skipped because the thread was stalled for too long to catch up. */
  readonly framesSkipped: number
  readonly size: number
  /** Removes every subscriber. */
  stop(): void
}

interface TickerOptions {
  readonly time?: Pick<Time, 'monotonicMs' | 'after'>
}

export const framePeriodMs = 20
export const phaseCount = 10
const phaseMs = framePeriodMs / phaseCount

/** A stalled thread catches up at most 100 ms by ticking faster; older ticks are skipped. */
export const maxCatchUpFrames = 5

const maxCatchUpSlots = maxCatchUpFrames * phaseCount

interface Subscriber {
  readonly tick: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Deadlines are absolute, so that lateness never accumulates; calls are spread over ten phases of 2 ms, so that
 * their packets do not leave in one burst. One timer serves them all.
 */
export class PhasedTicker implements Ticker {
  readonly #time: Pick<Time, 'monotonicMs' | 'after'>
  readonly #phases = Array.from({ length: phaseCount }, () => new Set<Subscriber>())
  readonly #meter = createLatenessMeter()
  readonly #epochMs: number
  /** Slots of 2 ms since the epoch; slot n belongs to phase n % 10. */
  #nextSlot = 0
  #size = 0
  #framesSkipped = 0
  #cancelTimer: (() => void) | undefined

  constructor({ time = systemTime }: TickerOptions = {}) {
    this.#time = time
    this.#epochMs = time.monotonicMs()
  }

  add(tick: () => void, onError: (error: unknown) => void): () => void {
    if (this.#size === 0) this.#nextSlot = this.#nowSlot() + 1
    const phase = this.#phases.reduce((least, each) => (each.size < least.size ? each : least))
    const subscriber: Subscriber = { tick, onError }
    phase.add(subscriber)
    this.#size++
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#arm()
    return () => {
      if (phase.delete(subscriber)) this.#size--
    }
  }

  lateness(): Lateness {
    return this.#meter.read(this.#time.monotonicMs())
  }

  get framesSkipped(): number {
    return this.#framesSkipped
  }

  get size(): number {
    return this.#size
  }

  stop(): void {
    for (const phase of this.#phases) phase.clear()
    this.#size = 0
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #nowSlot(): number {
    return Math.floor((this.#time.monotonicMs() - this.#epochMs) / phaseMs)
  }

  #deadlineMs(slot: number): number {
    return this.#epochMs + slot * phaseMs
  }

  #skipWhatIsTooOld(now: number): void {
    const behind = now - this.#nextSlot
    if (behind <= maxCatchUpSlots) return
    for (let slot = this.#nextSlot; slot < now - maxCatchUpSlots; slot += phaseCount)
      this.#framesSkipped += this.#size
    this.#nextSlot = now - maxCatchUpSlots
  }

  #runSlot(slot: number): void {
    const subscribers = this.#phases[slot % phaseCount]!
    if (subscribers.size === 0) return
    const nowMs = this.#time.monotonicMs()
    this.#meter.record(nowMs - this.#deadlineMs(slot), nowMs)
    for (const subscriber of subscribers) {
      try {
        subscriber.tick()
      } catch (error) {
        if (subscribers.delete(subscriber)) this.#size--
        subscriber.onError(error)
      }
    }
  }

  readonly #runDue = (): void => {
    this.#cancelTimer = undefined
    this.#skipWhatIsTooOld(this.#nowSlot())
    // The present time is read once: a thread that cannot keep up must still return to its event loop.
    const last = this.#nowSlot()
    for (; this.#nextSlot <= last && this.#size > 0; this.#nextSlot++) this.#runSlot(this.#nextSlot)
    this.#arm()
  }

  #arm(): void {
    if (this.#size === 0 || this.#cancelTimer) return
    let slot = this.#nextSlot
    while (this.#phases[slot % phaseCount]!.size === 0) slot++
    const waitMs = Math.ceil(this.#deadlineMs(slot) - this.#time.monotonicMs())
    this.#cancelTimer = this.#time.after(Math.max(1, waitMs), this.#runDue)
  }
}
