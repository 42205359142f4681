import { g711FrameBytes, g711SilenceByte, type G711Codec } from '../audio/g711.ts'
import { sequenceDistance, timestampDistance } from './packet.ts'

const samplesPerMs = 8
const frame = g711FrameBytes

export const minDelayMs = 20
export const initialDelayMs = 40
/** The maximum growth after a stall. */
export const usualMaxDelayMs = 60
/** The maximum growth under sustained jitter. */
export const maxDelayMs = 200

/** A packet further ahead than this belongs to another start of the stream. */
const maxAheadMs = maxDelayMs + usualMaxDelayMs
/** Space for the furthest packet (200 ms long at most) after the playout moved back the furthest. */
const capacity = 8192
const maxRtpPayloadBytes = 1600
const reviewTicks = 100
const minPacketsPerReview = 25
/** Late packets in this many ticks of one review period are sustained jitter, not one stall. */
const sustainedLateTicks = 3
/** A skipped frame should be quiet, but the wait for a quiet one is limited to a second. */
const maxSkipPatienceTicks = 50

interface BufferedPacket {
  readonly sequenceNumber: number
  readonly timestamp: number
  readonly payload: Uint8Array
}

/** The delay that packets needed in the last two seconds. */
interface Review {
  ticks: number
  packets: number
  leastSlack: number
  lateTicks: number
  lateThisTick: boolean
}

const newReview = (): Review => ({
  ticks: 0,
  packets: 0,
  leastSlack: Infinity,
  lateTicks: 0,
  lateThisTick: false,
})

/**
 * Restores the order and pace of packets. G.711 has one byte per sample, so a timestamp is a position in a ring of
 * bytes, which handles any ptime, reordering and overlap.
 *
 * The *slack* of a packet is the number of samples between the playout position and its first sample when it
 * arrives. Negative slack is too late. The buffer grows at once when packets are late, and shrinks by one frame in
 * a quiet moment when no packet needed the delay for two seconds.
 */
export class JitterBuffer {
  readonly #codec: G711Codec
  readonly #isQuiet: (frame: Uint8Array) => boolean
  readonly #bytes = new Uint8Array(capacity)
  readonly #present = new Uint8Array(capacity)
  #isStarted = false
  /** Timestamp of the next sample to be played. */
  #position = 0
  #averageSlack = 0
  /** The least delayed of the packets since the last tick: a burst after a stall does not show the usual delay. */
  #bestSlack = -Infinity
  /** End of the newest played audio: nothing before it may follow. */
  #playedEnd: number | undefined
  #late = 0
  #resyncs = 0
  /** The last packet that fitted nowhere: a second one directly after it is a new start. */
  #stray: { sequenceNumber: number; timestamp: number } | undefined
  #skipPatience = -1
  #review = newReview()

  constructor(codec: G711Codec, isQuiet: (frame: Uint8Array) => boolean) {
    this.#codec = codec
    this.#isQuiet = isQuiet
  }

  put({ sequenceNumber, timestamp, payload }: BufferedPacket): void {
    if (payload.length > maxRtpPayloadBytes) return
    if (!this.#isStarted) this.#startAt(timestamp)
    let slack = timestampDistance(this.#position, timestamp)
    if (slack < -maxDelayMs * samplesPerMs || slack > maxAheadMs * samplesPerMs) {
      if (!this.#isNewBeginning(sequenceNumber, timestamp)) return
      this.#startAt(timestamp)
      this.#resyncs++
      slack = timestampDistance(this.#position, timestamp)
    }
    this.#stray = undefined
    this.#bestSlack = Math.max(this.#bestSlack, slack)
    if (slack < 0 || this.#isBehindPlayed(timestamp)) this.#late++
    if (slack < 0 && !this.#grow(slack)) return
    if (this.#isBehindPlayed(timestamp)) return
    slack = timestampDistance(this.#position, timestamp)
    this.#review.packets++
    this.#review.leastSlack = Math.min(this.#review.leastSlack, slack)
    this.#store(timestamp, payload)
  }

  /** The next 20 ms, `undefined` if nothing has arrived. Time advances with every call. */
  take(): Uint8Array | undefined {
    if (!this.#isStarted) return undefined
    this.#review.lateThisTick = false
    this.#averageOut()
    if (++this.#review.ticks >= reviewTicks) this.#endReview()
    return this.#skipOneIfQuiet(this.#consumeFrame())
  }

  /** Resets everything but the counts: another SSRC begins. */
  reset(): void {
    this.#isStarted = false
  }

  /** Average wait of a packet before it is played. */
  get delayMs(): number {
    return this.#isStarted ? Math.max(0, this.#averageSlack) / samplesPerMs : 0
  }

  get late(): number {
    return this.#late
  }

  get resyncs(): number {
    return this.#resyncs
  }

  #startAt(timestamp: number): void {
    this.#present.fill(0)
    this.#isStarted = true
    this.#position = (timestamp - initialDelayMs * samplesPerMs) >>> 0
    this.#averageSlack = initialDelayMs * samplesPerMs
    this.#skipPatience = -1
    this.#stray = undefined
    this.#bestSlack = -Infinity
    this.#playedEnd = undefined
    this.#review = newReview()
  }

  #store(timestamp: number, payload: Uint8Array): void {
    const bytes = this.#bytes
    const present = this.#present
    for (let i = 0; i < payload.length; i++) {
      const at = (timestamp + i) & (capacity - 1)
      bytes[at] = payload[i]!
      present[at] = 1
    }
  }

  #isNewBeginning(sequenceNumber: number, timestamp: number): boolean {
    const stray = this.#stray
    const isNext =
      stray !== undefined &&
      sequenceDistance(stray.sequenceNumber, sequenceNumber) === 1 &&
      Math.abs(timestampDistance(stray.timestamp, timestamp)) <= maxDelayMs * samplesPerMs
    this.#stray = { sequenceNumber, timestamp }
    return isNext
  }

  /** Moves the playout back until the packet is in time; `false` if that would delay too much. */
  #grow(slack: number): boolean {
    if (!this.#review.lateThisTick) this.#review.lateTicks++
    this.#review.lateThisTick = true
    const limitMs = this.#review.lateTicks >= sustainedLateTicks ? maxDelayMs : usualMaxDelayMs
    const needed = Math.ceil(-slack / frame) * frame
    if (this.#averageSlack + needed > limitMs * samplesPerMs) return false
    this.#position = (this.#position - needed) >>> 0
    this.#averageSlack += needed
    this.#bestSlack += needed
    this.#skipPatience = -1
    this.#review = newReview()
    return true
  }

  #isBehindPlayed(timestamp: number): boolean {
    return this.#playedEnd !== undefined && timestampDistance(this.#playedEnd, timestamp) < 0
  }

  #averageOut(): void {
    if (this.#bestSlack > -Infinity)
      this.#averageSlack += (this.#bestSlack - this.#averageSlack) / 16
    this.#bestSlack = -Infinity
  }

  #consumeFrame(): Uint8Array | undefined {
    const bytes = this.#bytes
    const present = this.#present
    let found = 0
    // From Node's pool, because fifty separate buffers a second per call would burden the garbage collector.
    const out = Buffer.allocUnsafe(frame).fill(g711SilenceByte[this.#codec])
    for (let i = 0; i < frame; i++) {
      const at = (this.#position + i) & (capacity - 1)
      if (present[at] === 0) continue
      out[i] = bytes[at]!
      present[at] = 0
      found++
    }
    this.#position = (this.#position + frame) >>> 0
    if (found === 0) return undefined
    this.#playedEnd = this.#position
    return out
  }

  #endReview(): void {
    const isRoomy =
      this.#review.packets >= minPacketsPerReview &&
      this.#review.leastSlack >= minDelayMs * samplesPerMs + frame
    if (isRoomy && this.#skipPatience < 0) this.#skipPatience = maxSkipPatienceTicks
    this.#review = newReview()
  }

  #skipOneIfQuiet(taken: Uint8Array | undefined): Uint8Array | undefined {
    if (this.#skipPatience < 0) return taken
    if (this.#skipPatience-- > 0 && taken !== undefined && !this.#isQuiet(taken)) return taken
    this.#skipPatience = -1
    this.#averageSlack -= frame
    this.#review = newReview()
    return this.#consumeFrame()
  }
}
