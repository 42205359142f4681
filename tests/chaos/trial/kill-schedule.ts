import { createRandom } from '../../support/random.ts'

/** One kill: the time since the previous one, and its target. */
export interface Kill {
  readonly afterMs: number
  readonly victim: 'service' | 'postgres'
  /** Index of the service; taken modulo their number. */
  readonly service: number
}

/** Bursts of kills, steady ones, and pauses long enough for full recovery. */
const gaps = [
  { weight: 1, minMs: 50, maxMs: 600 },
  { weight: 2, minMs: 800, maxMs: 3_500 },
  { weight: 1, minMs: 4_000, maxMs: 8_000 },
] as const

const weightedGaps = gaps.flatMap((gap) => Array.from({ length: gap.weight }, () => gap))
const postgresShare = 0.35

/** The same seed gives the same kills, `hurry` times as fast. */
export const scheduleKills = (seed: number, kills: number, hurry = 1): Kill[] => {
  const random = createRandom(seed)
  return Array.from({ length: kills }, () => {
    const gap = random.pick(weightedGaps)
    return {
      afterMs: Math.round(random.between(gap.minMs, gap.maxMs) / hurry),
      victim: random.chance(postgresShare) ? ('postgres' as const) : ('service' as const),
      service: Math.floor(random.between(0, 1_000)),
    }
  })
}
