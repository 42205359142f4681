import type { RtpStats } from './rtp-session-types.ts'

/** How well one direction of a call's audio was carried. Undefined: the other side reported nothing. */
interface DirectionQuality {
  readonly direction: 'from_callee' | 'to_callee'
  readonly packets: number
  readonly packetsLost?: number
  readonly packetsLate?: number
  /** Frames of 20 ms. */
  readonly concealed?: number
  readonly jitterMs?: number
  /** The wait of packets before they are played, at the end. */
  readonly delayMs?: number
  readonly roundTripMs?: number
  /** 1 to 4.5. */
  readonly mos?: number
}

/** What the packets themselves hold, before they wait. */
const packetMs = 20
/** A telephone's own buffer, which no report names. */
const usualDelayMs = 40

/** Both directions; the one to the callee as far as their RTCP tells. */
export const qualityOf = (stats: RtpStats): readonly DirectionQuality[] => {
  const { reported } = stats
  const roundTripMs = reported?.roundTripMs
  const network = (roundTripMs ?? 0) / 2
  const known = roundTripMs === undefined ? {} : { roundTripMs }
  const expected = stats.packetsReceived + stats.packetsLost
  const missed = Math.max(stats.framesConcealed, stats.packetsLost)
  const from = {
    direction: 'from_callee',
    packets: stats.packetsReceived,
    packetsLost: stats.packetsLost,
    packetsLate: stats.packetsLate,
    concealed: stats.framesConcealed,
    jitterMs: stats.jitterMs,
    delayMs: stats.playoutDelayMs,
    ...known,
    ...(expected > 0 && {
      mos: mosOf(missed / expected, network + packetMs + stats.playoutDelayMs),
    }),
  } as const
  const to = { direction: 'to_callee', packets: stats.packetsSent, ...known } as const
  if (reported === undefined) return [from, to]
  const packetsLost = Math.max(0, reported.packetsLost)
  const share = packetsLost / Math.max(1, stats.packetsSent)
  const mos = mosOf(share, network + packetMs + usualDelayMs)
  return [from, { ...to, packetsLost, jitterMs: reported.jitterMs, mos }]
}

/** ITU-T G.113 appendix I: G.711 with concealment, losses at random. */
const lossRobustness = 25.1
const bestRating = 93.2

/**
 * The mean opinion that the E-model expects of G.711 (ITU-T G.107), 1 to 4.5.
 * @param lossShare 0 to 1
 * @param delayMs from mouth to ear
 */
export const mosOf = (lossShare: number, delayMs: number): number => {
  const lossPercent = 100 * Math.min(1, Math.max(0, lossShare))
  const delay = Math.max(0, delayMs)
  const impairedByDelay = 0.024 * delay + 0.11 * Math.max(0, delay - 177.3)
  const impairedByLoss = (95 * lossPercent) / (lossPercent + lossRobustness)
  const rating = Math.min(100, Math.max(0, bestRating - impairedByDelay - impairedByLoss))
  const mos = 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6
  return Math.min(4.5, Math.max(1, mos))
}
