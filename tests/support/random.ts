/** Random choices determined by a seed, the same on every machine. */
export interface Random {
  /** From 0, below 1. */
  next(): number
  chance(probability: number): boolean
  between(min: number, max: number): number
  /** Throws for an empty list. */
  pick<T>(items: readonly T[]): T
}

/** mulberry32: small, and good enough to shuffle events. */
export const createRandom = (seed: number): Random => {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    chance: (probability) => next() < probability,
    between: (min, max) => min + next() * (max - min),
    pick(items) {
      const index = Math.floor(next() * items.length)
      if (index >= items.length) throw new Error('there is nothing to choose from')
      return items[index] as (typeof items)[number]
    },
  }
}
