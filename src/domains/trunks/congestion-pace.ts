/** The pace of a trunk whose carrier is congested: additive increase, multiplicative decrease. Calls per second. */
interface CongestionPace {
  /** What an administrator allows. */
  readonly fullPerSecond: number
  /** What is dialled now. Undefined: all of it. */
  readonly pacedPerSecond: number | undefined
}

/** Each refused call halves the pace. */
const decreaseFactor = 0.5
/** A call that is taken lets it rise by this share of the whole in each second: from half to all in 50 s. */
const increaseSharePerSecond = 0.01
/** A carrier that refuses every call is asked by one call in this time. */
const probeSeconds = 5

/** After a call that the carrier refused for congestion without a time of its own. */
export const paceAfterCongestion = (pace: CongestionPace): number => {
  const slowest = Math.min(pace.fullPerSecond, 1 / probeSeconds)
  return Math.max(slowest, (pace.pacedPerSecond ?? pace.fullPerSecond) * decreaseFactor)
}

/** After this time in which the carrier takes calls. Undefined: the whole pace is reached. */
export const paceAfterRise = (pace: CongestionPace, elapsedMs: number): number | undefined => {
  if (pace.pacedPerSecond === undefined) return undefined
  const step = pace.fullPerSecond * increaseSharePerSecond * (Math.max(0, elapsedMs) / 1000)
  const risen = pace.pacedPerSecond + step
  return risen >= pace.fullPerSecond ? undefined : risen
}
