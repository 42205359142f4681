import type { RtpStats } from '../../rtp/rtp-session-types.ts'

type Missing = 'from_callee' | 'to_callee'

/** Detects audio that goes one way only, once for each direction. */
interface OneWayAudio {
  /**
   * The figures of each second. `isExpected`: both sides may send.
   */
  check(
    stats: Pick<RtpStats, 'withoutAudioMs' | 'reported'>,
    isExpected: boolean,
  ): Missing | undefined
}

/** With the second between two checks, it is told within five. */
const limitMs = 4_000
/** Of 1, in the other side's RTCP report. */
const nothingArrives = 0.95

export const createOneWayAudio = (): OneWayAudio => {
  const told = new Set<Missing>()
  const once = (missing: Missing): Missing | undefined => {
    if (told.has(missing)) return undefined
    told.add(missing)
    return missing
  }
  return {
    check({ withoutAudioMs, reported }, isExpected) {
      if (!isExpected) return undefined
      if (withoutAudioMs >= limitMs) return once('from_callee')
      return (reported?.fractionLost ?? 0) >= nothingArrives ? once('to_callee') : undefined
    },
  }
}
