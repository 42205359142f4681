import type { Database } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Clock } from '../../runtime/time.ts'
import { defaultQuotas, quotaExceeded, type QuotaName, type Quotas } from './quotas.ts'
import { countKept, type KeptCounts } from './storage-quota-store.ts'

/** Enforces the storage quotas of organizations. */
export interface StorageQuotas {
  /** Call it before a transaction that may store: loads the count. Returns no promise if the count is known. */
  prepare(organizationId: OrganizationId): void | Promise<void>
  /** Reserves space for this many items; throws `rate_limit_exceeded` if there is none. Needs no database. */
  take(organizationId: OrganizationId, name: QuotaName, amount: number): void
}

/** After this an estimate is counted again, to include other nodes and operators. */
const maxAgeMs = 60_000
/** After this an estimate that refused a request is counted again, because there may be space. */
const maxAgeOfFullMs = 5_000
const maxEntries = 10_000

interface Entry {
  readonly quotas: Quotas
  readonly countedAtMs: number
  /** The count at that time, and what this process has added since. */
  readonly kept: Record<QuotaName, number>
  hasRefused: boolean
}

/**
 * Counts are estimates in memory: counted in the database (never beyond the quota) once a minute while an
 * organization writes, and raised by what this process accepts, whether or not that commits. So a request costs no
 * count. The tolerance is what other nodes accept within a minute; a single node has none.
 */
export const createStorageQuotas = ({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: Clock
}): StorageQuotas => {
  const entries = new BoundedMap<string, Entry>({ maxSize: maxEntries })
  const countings = new Map<string, Promise<void>>()

  const count = async (organizationId: OrganizationId): Promise<void> => {
    const countedAtMs = clock.monotonicMs()
    const entry = entryOf(await countKept(database, organizationId, defaultQuotas), countedAtMs)
    entries.set(organizationId, entry)
  }

  /** One count for all that wait for it. */
  const recount = (organizationId: OrganizationId): Promise<void> => {
    const running = countings.get(organizationId)
    if (running) return running
    const counting = count(organizationId).finally(() => countings.delete(organizationId))
    countings.set(organizationId, counting)
    return counting
  }

  return {
    prepare(organizationId) {
      const entry = entries.get(organizationId)
      if (!entry) return recount(organizationId)
      const maxAge = entry.hasRefused ? maxAgeOfFullMs : maxAgeMs
      const isOld = clock.monotonicMs() - entry.countedAtMs >= maxAge
      return isOld ? recount(organizationId) : undefined
    },
    take(organizationId, name, amount) {
      const entry = entries.get(organizationId)
      // Evicted since it was prepared, by 10,000 others: the next request counts.
      if (!entry) return
      if (entry.kept[name] + amount > entry.quotas[name]) {
        entry.hasRefused = true
        throw quotaExceeded(name, entry.quotas[name])
      }
      entry.kept[name] += amount
    },
  }
}

const entryOf = ({ quotas, ...kept }: KeptCounts, countedAtMs: number): Entry => ({
  quotas: { ...defaultQuotas, ...quotas },
  countedAtMs,
  kept,
  hasRefused: false,
})

/** For operator commands, and for tests of other things. */
export const unlimitedStorage: StorageQuotas = { prepare: () => undefined, take: () => undefined }
