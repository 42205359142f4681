import { isRetryable } from '../database/errors.ts'
import type { Readiness } from './readiness.ts'

/** Ready means: the database is reachable, its schema is current, and the roles have started. Never rejects. */
export const storeReadiness = async (
  store: { pendingMigrations(): Promise<readonly string[]> },
  hasRoles: boolean,
): Promise<Readiness> => {
  const roles = hasRoles ? 'ok' : 'starting'
  try {
    const pending = await store.pendingMigrations()
    const migrations = pending.length === 0 ? 'ok' : `${pending.length} missing`
    return {
      isReady: hasRoles && pending.length === 0,
      checks: { database: 'ok', migrations, roles },
    }
  } catch (error) {
    const word = isRetryable(error) ? 'unreachable' : 'failed'
    return { isReady: false, checks: { database: word, migrations: 'unknown', roles } }
  }
}
