import { g711FrameBytes, g711SilenceByte, type G711Codec } from '../audio/g711.ts'
import { sequenceDistance, timestampDistance } from './packet.ts'

const samplesPerMs = 8
const frame = g711FrameBytes

/** The wait of the first packet; a line without jitter gives it back. */
export const initialDelayMs = 20
/** The longest wait: beyond it the two sides begin to talk at once. */
export const maxDelayMs = 400

/** A packet further ahead than this belongs to another start of the stream. */
const maxAheadMs = maxDelayMs + 200
/** Space for the furthest packet (200 ms long at most) after the playout moved back the furthest. */
const capacity = 16_384
const maxRtpPayloadBytes = 1600
/** Two seconds; longer, up to the other, where delay that was given back was soon needed again. */
const shortestReviewTicks = 100
const longestReviewTicks = 1_600
/** Of every four ticks: a line that sends less shows too little. */
const packetsPerTick = 0.25
/** Skipped frames should be quiet, but the wait for a quiet one is limited to two seconds. */
const maxSkipPatienceTicks = 100

interface BufferedPacket {
  readonly sequenceNumber: number
  readonly timestamp: number
  readonly payload: Uint8Array
}

/** The delay that packets needed since the review began. */
interface Review {
  ticks: number
  packets: number
  leastSlack: number
}

const newReview = (): Review => ({ ticks: 0, packets: 0, leastSlack: Infinity })

/**
 * Restores the order and pace of packets. G.711 has one byte per sample, so a timestamp is a position in a ring of
 * bytes, which handles any ptime, reordering and overlap.
 *
 * The *slack* of a packet is the number of samples between the playout position and its first sample when it
 * arrives. Negative slack is too late. The buffer grows at once when packets are late, so that the words of a stall are
 * heard late instead of never. It gives back in quiet moments what no packet of the last two seconds needed.
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
  /** Frames to be given back, and how long a quiet one is still waited for. */
  #surplus = 0
  #skipPatience = 0
  #review = newReview()
  #reviewTicks = shortestReviewTicks
  #ticksSinceSkip = Infinity

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
    this.#averageOut()
    this.#ticksSinceSkip++
    if (++this.#review.ticks >= this.#reviewTicks) this.#endReview()
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
    this.#surplus = 0
    this.#reviewTicks = shortestReviewTicks
    this.#ticksSinceSkip = Infinity
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
    const needed = Math.ceil(-slack / frame) * frame
    if (this.#averageSlack + needed > maxDelayMs * samplesPerMs) return false
    if (this.#ticksSinceSkip < this.#reviewTicks)
      this.#reviewTicks = Math.min(longestReviewTicks, 2 * this.#reviewTicks)
    this.#ticksSinceSkip = Infinity
    this.#position = (this.#position - needed) >>> 0
    this.#averageSlack += needed
    this.#bestSlack += needed
    this.#surplus = 0
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
    const { packets, ticks, leastSlack } = this.#review
    this.#review = newReview()
    if (packets < ticks * packetsPerTick) return
    const surplus = Math.floor(leastSlack / frame)
    if (surplus > 0 && this.#surplus === 0) this.#skipPatience = maxSkipPatienceTicks
    this.#surplus = Math.max(0, surplus)
    if (surplus <= 0 && this.#ticksSinceSkip > 2 * this.#reviewTicks)
      this.#reviewTicks = Math.max(shortestReviewTicks, this.#reviewTicks / 2)
  }

  #skipOneIfQuiet(taken: Uint8Array | undefined): Uint8Array | undefined {
    if (this.#surplus === 0) return taken
    if (this.#skipPatience-- > 0 && taken !== undefined && !this.#isQuiet(taken)) return taken
    this.#surplus--
    this.#skipPatience = maxSkipPatienceTicks
    this.#averageSlack -= frame
    this.#ticksSinceSkip = 0
    this.#review = newReview()
    return this.#consumeFrame()
  }
}
