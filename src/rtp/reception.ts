import type { ReportBlock } from './rtcp.ts'
import { sequenceDistance, timestampDistance } from './packet.ts'

/** Duplicates are detected within this many sequence numbers. */
const window = 128

/** Statistics of one received SSRC (RFC 3550 A.1, A.3 and A.8). */
export class Reception {
  readonly ssrc: number
  readonly #firstSequenceNumber: number
  readonly #seen = new Int32Array(window).fill(-1)
  #highest: number
  #cycles = 0
  #received = 0
  #duplicates = 0
  #reordered = 0
  #jitter = 0
  #last: { timestamp: number; arrival: number } | undefined
  #lastReport = { expected: 0, received: 0 }
  #lastSenderReport: { compactNtp: number; arrivedMs: number } | undefined

  constructor(ssrc: number, firstSequenceNumber: number) {
    this.ssrc = ssrc
    this.#firstSequenceNumber = firstSequenceNumber
    this.#highest = firstSequenceNumber
  }

  /** `false` for a duplicate. `arrival` is in timestamp units. */
  update(sequenceNumber: number, timestamp: number, arrival: number): boolean {
    if (this.#isDuplicate(sequenceNumber)) {
      this.#duplicates++
      return false
    }
    this.#received++
    this.#follow(sequenceNumber)
    this.#measureJitter(timestamp, arrival)
    return true
  }

  /** Records a sender report's NTP time (compact form) and its arrival. */
  senderReport(compactNtp: number, arrivedMs: number): void {
    this.#lastSenderReport = { compactNtp, arrivedMs }
  }

  /** Figures since the last report block, for the next one. */
  reportBlock(nowMs: number): ReportBlock {
    const senderReport = this.#lastSenderReport
    return {
      ssrc: this.ssrc,
      fractionLost: this.#fractionLost(),
      packetsLost: Math.max(-0x80_0000, Math.min(0x7f_ffff, this.#expected() - this.#received)),
      highestSequence: this.#extendedHighest() >>> 0,
      jitter: Math.round(this.#jitter),
      lastSenderReport: senderReport?.compactNtp ?? 0,
      delaySinceLastSenderReport: senderReport
        ? Math.round((nowMs - senderReport.arrivedMs) * 65.536) >>> 0
        : 0,
    }
  }

  get received(): number {
    return this.#received
  }

  get lost(): number {
    return Math.max(0, this.#expected() - this.#received)
  }

  get duplicates(): number {
    return this.#duplicates
  }

  get reordered(): number {
    return this.#reordered
  }

  /** In timestamp units. */
  get jitter(): number {
    return this.#jitter
  }

  #extendedHighest(): number {
    return this.#cycles * 65_536 + this.#highest
  }

  #expected(): number {
    return this.#extendedHighest() - this.#firstSequenceNumber + 1
  }

  #isDuplicate(sequenceNumber: number): boolean {
    const slot = sequenceNumber % window
    if (this.#seen[slot] === sequenceNumber) return true
    this.#seen[slot] = sequenceNumber
    return false
  }

  #follow(sequenceNumber: number): void {
    const ahead = sequenceDistance(this.#highest, sequenceNumber)
    if (ahead < 0) this.#reordered++
    if (ahead <= 0) return
    if (sequenceNumber < this.#highest) this.#cycles++
    this.#highest = sequenceNumber
  }

  #measureJitter(timestamp: number, arrival: number): void {
    const last = this.#last
    if (last) {
      const transitChange = arrival - last.arrival - timestampDistance(last.timestamp, timestamp)
      this.#jitter += (Math.abs(transitChange) - this.#jitter) / 16
    }
    this.#last = { timestamp, arrival }
  }

  #fractionLost(): number {
    const expected = this.#expected()
    const expectedNow = expected - this.#lastReport.expected
    const lostNow = expectedNow - (this.#received - this.#lastReport.received)
    this.#lastReport = { expected, received: this.#received }
    return expectedNow <= 0 || lostNow <= 0
      ? 0
      : Math.min(255, Math.floor((lostNow * 256) / expectedNow))
  }
}
