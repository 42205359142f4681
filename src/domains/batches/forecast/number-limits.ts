import { dayOfCallee, type Interval } from '../../../calling-hours/openings.ts'

/** A number that callees see (D16). */
interface SimulatedNumber {
  /** Infinite: without a limit. */
  readonly callsPerDay: number
  /** On the day on which the forecast begins. */
  readonly callsToday: number
  /** 0: it does not rest. Infinite: until it is resumed. */
  readonly restsUntilMs: number
}

export interface SimulatedNumbers {
  /** Its days are those of the limits. */
  readonly timeZone: string
  readonly numbers: readonly SimulatedNumber[]
  /** Indexes of the numbers among which an agent's calls choose. */
  readonly pools: readonly (readonly number[])[]
}

interface NumberLimits {
  /** Before it no number of the pool is free; infinite: never. */
  freeAtMs(pool: number | undefined): number
  /** Counts a call for the number of the pool that was used least; false: none is free until `freeAtMs`. */
  take(pool: number | undefined, nowMs: number): boolean
}

/** Numbers as calls of each pool use them up, read forwards in time. A pool without numbers never has a free one. */
export const createNumberLimits = (given: SimulatedNumbers | undefined): NumberLimits => {
  if (given === undefined) return { freeAtMs: () => 0, take: () => true }
  const { timeZone, numbers, pools } = given
  const used = numbers.map(({ callsToday }) => callsToday)
  const free = pools.map(() => 0)
  let day: Interval | undefined

  const dayEndMs = (nowMs: number): number => {
    if (day && nowMs < day.endMs) return day.endMs
    if (day) used.fill(0)
    day = dayOfCallee([timeZone], nowMs)
    return day.endMs
  }
  const usableFromMs = (index: number, nowMs: number, endMs: number): number => {
    const { callsPerDay, restsUntilMs } = numbers[index] as SimulatedNumber
    return Math.max(restsUntilMs, (used[index] ?? 0) < callsPerDay ? nowMs : endMs)
  }
  return {
    freeAtMs: (pool) => (pool === undefined ? 0 : (free[pool] ?? 0)),
    take: (pool, nowMs) => {
      if (pool === undefined) return true
      const endMs = dayEndMs(nowMs)
      let best: number | undefined
      let firstMs = Number.POSITIVE_INFINITY
      for (const index of pools[pool] ?? []) {
        const fromMs = usableFromMs(index, nowMs, endMs)
        firstMs = Math.min(firstMs, fromMs)
        if (fromMs > nowMs) continue
        if (best === undefined || (used[index] ?? 0) < (used[best] ?? 0)) best = index
      }
      if (best === undefined) free[pool] = firstMs
      else used[best] = (used[best] ?? 0) + 1
      return best !== undefined
    },
  }
}
