/** A token bucket: how many calls may start at once, and how fast tokens refill. */
interface Pacing {
  readonly burst: number
  readonly refillPerSecond: number
}

/** Calls that may start at once: a twentieth of a second's allowance, so that the trunk gets no burst. */
const burstsPerSecond = 20
/** A dial leaves some milliseconds after its claim, so a second of dials may be a little shorter than a second. */
const jitterAllowance = 1.05

/**
 * The bucket for an allowance of calls per second. Any second, wherever it begins, has at most `burst` at once plus
 * its refill; both together stay within the allowance, including the jitter between claim and INVITE. Below one call a
 * second the bucket holds one and refills at that rate.
 */
export const pacingOf = (callsPerSecond: number): Pacing => {
  const burst = Math.max(1, Math.floor(callsPerSecond / burstsPerSecond))
  const spare = callsPerSecond < 1 ? callsPerSecond : callsPerSecond + 1 - burst
  return { burst, refillPerSecond: spare / jitterAllowance }
}
