import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Database } from '../../database/database.ts'
import { wakeEnginelessCalls } from '../../domains/calls/lifecycle/wake-engineless-calls.ts'
import type { SecretBox } from '../../domains/organizations/secret-box.ts'
import { findProvider, type StoredProvider } from '../../domains/providers/find-provider.ts'
import {
  listProviderRows,
  providersChannel,
  type ProviderRow,
} from '../../domains/providers/provider-store.ts'
import type { Logger } from '../../runtime/logger.ts'
import { repeat } from '../../runtime/repeating.ts'
import type { Service } from '../../runtime/service.ts'
import { systemTime } from '../../runtime/time.ts'

/** The provider of this name; a sentence if the organization has none. */
export type FindProvider = (organizationId: OrganizationId, name: string) => StoredProvider | string

/** This node's copy of the providers, because a call does not wait for the database. */
interface ProviderBook extends Service {
  readonly find: FindProvider
}

const refreshMs = 5_000

export const createProviderBook = (
  database: Database,
  box: SecretBox,
  logger: Logger,
): ProviderBook => {
  let rows: readonly ProviderRow[] = []
  let isLoaded = false
  let refreshing: ReturnType<typeof repeat> | undefined
  let listening: Awaited<ReturnType<Database['listen']>> | undefined
  const refresh = async (): Promise<void> => {
    const before = isLoaded ? idsOf(rows) : undefined
    rows = await listProviderRows(database)
    isLoaded = true
    // Calls that waited for a provider are judged again.
    if (before !== undefined && before !== idsOf(rows)) await wakeEnginelessCalls(database)
  }
  return {
    find: (organizationId, name) => findProvider(rows, box, organizationId, name),
    start: async () => {
      await refresh()
      refreshing ??= repeat({
        name: 'providers',
        intervalMs: refreshMs,
        work: refresh,
        time: systemTime,
        logger,
      })
      listening ??= await database.listen(providersChannel, () => refreshing?.wake())
    },
    stop: async () => {
      await listening?.stop()
      await refreshing?.stop()
    },
  }
}

/** A provider never changes: it is removed and added. */
const idsOf = (rows: readonly ProviderRow[]): string => rows.map(({ id }) => id).join()
