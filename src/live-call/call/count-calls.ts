import type { EndedCall } from '../../domains/calls/lifecycle/ended-call.ts'
import type { CallQuality } from '../../domains/results/quality-store.ts'
import type { StoredLatency } from '../../domains/results/usage-store.ts'
import type { HistogramName } from '../../runtime/metric-list.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'

interface Measured {
  readonly latencies: readonly StoredLatency[]
  readonly quality: readonly CallQuality[]
}

/** Counts how calls ended, how fast the agent replied, and how their audio was carried: once a call. */
export const countEndedCalls = (
  telemetry: Telemetry | undefined,
  ended: readonly EndedCall[],
  measured: Measured | undefined,
): void => {
  if (telemetry === undefined || ended.length === 0) return
  for (const { status, answerStatus } of ended)
    telemetry.count('outdial_calls_ended_total', { status, answer: answerStatus ?? 'none' })
  for (const { totalMs } of measured?.latencies ?? [])
    telemetry.observe('outdial_reply_seconds', totalMs / 1000)
  for (const each of measured?.quality ?? []) countQuality(telemetry, each)
}

const countQuality = (telemetry: Telemetry, quality: CallQuality): void => {
  const { direction, jitterMs, roundTripMs } = quality
  telemetry.count('outdial_rtp_packets_total', { direction }, quality.packets)
  const observe = (name: HistogramName, value: number | undefined): void => {
    if (value !== undefined) telemetry.observe(name, value, { direction })
  }
  observe('outdial_rtp_jitter_seconds', jitterMs === undefined ? undefined : jitterMs / 1000)
  observe('outdial_rtp_round_trip_seconds', roundTripMs && roundTripMs / 1000)
  observe('outdial_rtp_lost_packets', quality.packetsLost)
  observe('outdial_rtp_late_packets', quality.packetsLate)
  observe('outdial_rtp_concealed_frames', quality.concealed)
  observe('outdial_call_mos', quality.mos)
}

interface Try {
  readonly trunk: string
  readonly sipStatus?: number
}

/** Counts the INVITEs of one attempt by trunk and class of the final response. */
export const countTries = (telemetry: Telemetry | undefined, tries: readonly Try[]): void => {
  for (const { trunk, sipStatus } of tries)
    telemetry?.count('outdial_sip_attempts_total', {
      trunk,
      class: sipStatus === undefined ? 'none' : `${Math.floor(sipStatus / 100)}xx`,
    })
}
