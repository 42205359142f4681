import { BoundedMap } from '../../../../runtime/bounded-map.ts'
import { ProviderError } from '../provider-error.ts'

/** Remembers which providers failed lately, so that the next call does not wait for them again. */
export interface ProviderHealth {
  isResting(id: string): boolean
  failed(id: string, error: unknown): void
  worked(id: string): void
}

const maxProviders = 10_000
const restMs = 30_000
/** A refused key is not mended by itself within seconds. */
const refusedRestMs = 5 * 60_000

/** @param nowMs monotonic */
export const createProviderHealth = (
  nowMs: () => number = () => performance.now(),
): ProviderHealth => {
  const restUntil = new BoundedMap<string, number>({ maxSize: maxProviders })
  return {
    isResting: (id) => (restUntil.get(id) ?? -Infinity) > nowMs(),
    failed: (id, error) => restUntil.set(id, nowMs() + restOf(error)),
    worked: (id) => restUntil.delete(id),
  }
}

const restOf = (error: unknown): number => {
  if (!(error instanceof ProviderError)) return restMs
  if (error.status === 401 || error.status === 402 || error.status === 403) return refusedRestMs
  return Math.min(error.retryAfterMs ?? restMs, refusedRestMs)
}
