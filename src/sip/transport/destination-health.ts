import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Clock } from '../../runtime/time.ts'
import type { Destination } from '../message/destination.ts'

/** What failed lately: the next calls try other addresses first (RFC 3263 4.3). */
export interface DestinationHealth {
  failed(destination: Destination): void
  /** It sent a response. */
  works(destination: Destination): void
  /** The same addresses, those that failed lately last. */
  order(destinations: readonly Destination[]): readonly Destination[]
}

const maxFailed = 1024
/** Then it is tried in its place again; the time doubles with each failure. */
const firstRestMs = 30_000
const maxRestMs = 5 * 60_000

export const createDestinationHealth = (clock: Pick<Clock, 'monotonicMs'>): DestinationHealth => {
  const rests = new BoundedMap<string, { untilMs: number; restMs: number }>({ maxSize: maxFailed })
  const isResting = (destination: Destination): boolean =>
    (rests.get(keyOf(destination))?.untilMs ?? 0) > clock.monotonicMs()
  return {
    failed: (destination) => {
      const key = keyOf(destination)
      const { restMs = firstRestMs / 2 } = rests.get(key) ?? {}
      if (isResting(destination)) return
      const next = Math.min(maxRestMs, 2 * restMs)
      rests.set(key, { untilMs: clock.monotonicMs() + next, restMs: next })
    },
    works: (destination) => {
      rests.delete(keyOf(destination))
    },
    order: (destinations) => [
      ...destinations.filter((each) => !isResting(each)),
      ...destinations.filter(isResting),
    ],
  }
}

const keyOf = ({ protocol, address, port }: Destination): string => `${protocol} ${address} ${port}`
