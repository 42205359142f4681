import { g711FrameBytes, g711SilenceByte, type G711Codec } from '../audio/g711.ts'
import { sequenceDistance, timestampDistance } from './packet.ts'

/**
 * Puts packets back into the order and pace they were spoken in. G.711 has one byte per sample, so a timestamp is a
 * place in a ring of bytes: any ptime, reordering and overlap come out right.
 *
 * The *slack* of a packet is how many samples lie between the playout position and its first sample when it arrives.
 * Negative slack is too late. The buffer grows at once when packets are late, and shrinks by one frame in a quiet moment
 * when two seconds went by without anyone needing the delay.
 */
export interface JitterBuffer {
  put(packet: {
    readonly sequenceNumber: number
    readonly timestamp: number
    readonly payload: Uint8Array
  }): void
  /** The next 20 ms, `undefined` where nothing has come. Time passes with every call. */
  take(): Uint8Array | undefined
  /** Forgets everything but its counts: another SSRC begins. */
  reset(): void
  /** Average wait of a packet before it is played. */
  readonly delayMs: number
  readonly late: number
  readonly resyncs: number
}

const samplesPerMs = 8
const frame = g711FrameBytes

export const minDelayMs = 20
export const initialDelayMs = 40
/** What a stall may grow it to. */
export const usualMaxDelayMs = 60
/** What sustained jitter may grow it to. */
export const maxDelayMs = 200

/** A packet further ahead than this belongs to another beginning. */
const maxAheadMs = maxDelayMs + usualMaxDelayMs
/** Room for the furthest packet (200 ms long at most) after the playout moved back the furthest. */
const capacity = 8192
export const maxPayloadBytes = 1600
const reviewTicks = 100
const minPacketsPerReview = 25
/** Late packets in this many ticks of one review period are sustained jitter, not one stall. */
const sustainedLateTicks = 3
/** A frame to be skipped is waited for to be a quiet one, but no longer than a second. */
const maxSkipPatienceTicks = 50

export const createJitterBuffer = (
  codec: G711Codec,
  isQuiet: (frame: Uint8Array) => boolean,
): JitterBuffer => {
  const bytes = new Uint8Array(capacity)
  const present = new Uint8Array(capacity)
  let isStarted = false
  /** Timestamp of the next sample to be played. */
  let position = 0
  let averageSlack = 0
  /** Of the packets since the last tick, the least delayed: a burst after a stall says nothing about the usual delay. */
  let bestSlack = -Infinity
  /** End of the newest audio that was played: nothing before it may follow. */
  let playedEnd: number | undefined
  let late = 0
  let resyncs = 0
  /** The last packet that fitted nowhere: a second one right behind it is a new beginning. */
  let stray: { sequenceNumber: number; timestamp: number } | undefined
  let skipPatience = -1
  let review = { ticks: 0, packets: 0, leastSlack: Infinity, lateTicks: 0, lateThisTick: false }

  const newReview = (): void => {
    review = { ticks: 0, packets: 0, leastSlack: Infinity, lateTicks: 0, lateThisTick: false }
  }

  const startAt = (timestamp: number): void => {
    present.fill(0)
    isStarted = true
    position = (timestamp - initialDelayMs * samplesPerMs) >>> 0
    averageSlack = initialDelayMs * samplesPerMs
    skipPatience = -1
    stray = undefined
    bestSlack = -Infinity
    playedEnd = undefined
    newReview()
  }

  const store = (timestamp: number, payload: Uint8Array): void => {
    for (let i = 0; i < payload.length; i++) {
      const at = (timestamp + i) & (capacity - 1)
      bytes[at] = payload[i]!
      present[at] = 1
    }
  }

  const isNewBeginning = (sequenceNumber: number, timestamp: number): boolean => {
    const isNext =
      stray !== undefined &&
      sequenceDistance(stray.sequenceNumber, sequenceNumber) === 1 &&
      Math.abs(timestampDistance(stray.timestamp, timestamp)) <= maxDelayMs * samplesPerMs
    stray = { sequenceNumber, timestamp }
    return isNext
  }

  /** Moves the playout back so far that the packet is in time; `false` where that would delay too much. */
  const grow = (slack: number): boolean => {
    if (!review.lateThisTick) review.lateTicks++
    review.lateThisTick = true
    const limitMs = review.lateTicks >= sustainedLateTicks ? maxDelayMs : usualMaxDelayMs
    const needed = Math.ceil(-slack / frame) * frame
    if (averageSlack + needed > limitMs * samplesPerMs) return false
    position = (position - needed) >>> 0
    averageSlack += needed
    bestSlack += needed
    skipPatience = -1
    newReview()
    return true
  }

  const isBehindPlayed = (timestamp: number): boolean =>
    playedEnd !== undefined && timestampDistance(playedEnd, timestamp) < 0

  const averageOut = (): void => {
    if (bestSlack > -Infinity) averageSlack += (bestSlack - averageSlack) / 16
    bestSlack = -Infinity
  }

  const consumeFrame = (): Uint8Array | undefined => {
    let found = 0
    // From Node's pool: fifty buffers of their own a second for each call keep the collector busy.
    const out = Buffer.allocUnsafe(frame).fill(g711SilenceByte[codec])
    for (let i = 0; i < frame; i++) {
      const at = (position + i) & (capacity - 1)
      if (present[at] === 0) continue
      out[i] = bytes[at]!
      present[at] = 0
      found++
    }
    position = (position + frame) >>> 0
    if (found === 0) return undefined
    playedEnd = position
    return out
  }

  const endReview = (): void => {
    const isRoomy =
      review.packets >= minPacketsPerReview &&
      review.leastSlack >= minDelayMs * samplesPerMs + frame
    if (isRoomy && skipPatience < 0) skipPatience = maxSkipPatienceTicks
    newReview()
  }

  const skipOneIfQuiet = (taken: Uint8Array | undefined): Uint8Array | undefined => {
    if (skipPatience < 0) return taken
    if (skipPatience-- > 0 && taken !== undefined && !isQuiet(taken)) return taken
    skipPatience = -1
    averageSlack -= frame
    newReview()
    return consumeFrame()
  }

  return {
    put({ sequenceNumber, timestamp, payload }) {
      if (payload.length > maxPayloadBytes) return
      if (!isStarted) startAt(timestamp)
      let slack = timestampDistance(position, timestamp)
      if (slack < -maxDelayMs * samplesPerMs || slack > maxAheadMs * samplesPerMs) {
        if (!isNewBeginning(sequenceNumber, timestamp)) return
        startAt(timestamp)
        resyncs++
        slack = timestampDistance(position, timestamp)
      }
      stray = undefined
      bestSlack = Math.max(bestSlack, slack)
      if (slack < 0 || isBehindPlayed(timestamp)) late++
      if (slack < 0 && !grow(slack)) return
      if (isBehindPlayed(timestamp)) return
      slack = timestampDistance(position, timestamp)
      review.packets++
      review.leastSlack = Math.min(review.leastSlack, slack)
      store(timestamp, payload)
    },
    take() {
      if (!isStarted) return undefined
      review.lateThisTick = false
      averageOut()
      if (++review.ticks >= reviewTicks) endReview()
      return skipOneIfQuiet(consumeFrame())
    },
    reset() {
      isStarted = false
    },
    get delayMs() {
      return isStarted ? Math.max(0, averageSlack) / samplesPerMs : 0
    },
    get late() {
      return late
    },
    get resyncs() {
      return resyncs
    },
  }
}
