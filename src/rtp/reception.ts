import type { ReportBlock } from './rtcp.ts'
import { sequenceDistance, timestampDistance } from './packet.ts'

/** Statistics of one received SSRC (RFC 3550 A.1, A.3 and A.8). */
export interface Reception {
  readonly ssrc: number
  /** Whether the packet is news; `false` for a duplicate. `arrival` is in timestamp units. */
  update(sequenceNumber: number, timestamp: number, arrival: number): boolean
  /** Takes note of a sender report's NTP time (compact form) and when it came. */
  senderReport(compactNtp: number, arrivedMs: number): void
  /** Figures since the last report block, for the next one. */
  reportBlock(nowMs: number): ReportBlock
  readonly received: number
  readonly lost: number
  readonly duplicates: number
  readonly reordered: number
  /** In timestamp units. */
  readonly jitter: number
}

/** Duplicates are told within this many sequence numbers. */
const window = 128

export const createReception = (ssrc: number, firstSequenceNumber: number): Reception => {
  const seen = new Int32Array(window).fill(-1)
  let highest = firstSequenceNumber
  let cycles = 0
  let received = 0
  let duplicates = 0
  let reordered = 0
  let jitter = 0
  let last: { timestamp: number; arrival: number } | undefined
  let lastReport = { expected: 0, received: 0 }
  let lastSenderReport: { compactNtp: number; arrivedMs: number } | undefined

  const extendedHighest = (): number => cycles * 65_536 + highest
  const expected = (): number => extendedHighest() - firstSequenceNumber + 1

  const isDuplicate = (sequenceNumber: number): boolean => {
    const slot = sequenceNumber % window
    if (seen[slot] === sequenceNumber) return true
    seen[slot] = sequenceNumber
    return false
  }

  const follow = (sequenceNumber: number): void => {
    const ahead = sequenceDistance(highest, sequenceNumber)
    if (ahead < 0) reordered++
    if (ahead <= 0) return
    if (sequenceNumber < highest) cycles++
    highest = sequenceNumber
  }

  const measureJitter = (timestamp: number, arrival: number): void => {
    if (last) {
      const transitChange = arrival - last.arrival - timestampDistance(last.timestamp, timestamp)
      jitter += (Math.abs(transitChange) - jitter) / 16
    }
    last = { timestamp, arrival }
  }

  const fractionLost = (): number => {
    const expectedNow = expected() - lastReport.expected
    const lostNow = expectedNow - (received - lastReport.received)
    lastReport = { expected: expected(), received }
    return expectedNow <= 0 || lostNow <= 0
      ? 0
      : Math.min(255, Math.floor((lostNow * 256) / expectedNow))
  }

  return {
    ssrc,
    update(sequenceNumber, timestamp, arrival) {
      if (isDuplicate(sequenceNumber)) {
        duplicates++
        return false
      }
      received++
      follow(sequenceNumber)
      measureJitter(timestamp, arrival)
      return true
    },
    senderReport(compactNtp, arrivedMs) {
      lastSenderReport = { compactNtp, arrivedMs }
    },
    reportBlock: (nowMs) => ({
      ssrc,
      fractionLost: fractionLost(),
      packetsLost: Math.max(-0x80_0000, Math.min(0x7f_ffff, expected() - received)),
      highestSequence: extendedHighest() >>> 0,
      jitter: Math.round(jitter),
      lastSenderReport: lastSenderReport?.compactNtp ?? 0,
      delaySinceLastSenderReport: lastSenderReport
        ? Math.round((nowMs - lastSenderReport.arrivedMs) * 65.536) >>> 0
        : 0,
    }),
    get received() {
      return received
    },
    get lost() {
      return Math.max(0, expected() - received)
    },
    get duplicates() {
      return duplicates
    },
    get reordered() {
      return reordered
    },
    get jitter() {
      return jitter
    },
  }
}
