import type { CronItem, TaskList } from 'graphile-worker'
import type { Database, Queryable } from '../database/database.ts'
import { retireInstallationSecrets } from '../domains/organizations/installation-secrets.ts'
import { purgeSupersededRevisions } from '../domains/results/result-store.ts'
import { purgeExpiredClaims } from '../http/idempotency-claims.ts'

const housekeepingTask = 'housekeeping'
const purgeLimit = 5_000
/** A run deletes at most a million rows; the next one takes the rest. */
const maxRounds = 200

/** Every ten minutes what is past its time goes: idempotency claims, superseded revisions, retired secrets. */
export const createHousekeeping = (
  database: Database,
): { readonly tasks: TaskList; readonly schedule: readonly CronItem[] } => ({
  tasks: {
    [housekeepingTask]: async () => {
      await inRounds(database, purgeExpiredClaims)
      await inRounds(database, purgeSupersededRevisions)
      await retireInstallationSecrets(database, 'media')
      await retireInstallationSecrets(database, 'cursor')
    },
  },
  schedule: [{ task: housekeepingTask, match: '*/10 * * * *', options: { maxAttempts: 1 } }],
})

const inRounds = async (
  database: Database,
  purge: (db: Queryable, limit: number) => Promise<number>,
): Promise<void> => {
  for (let round = 0; round < maxRounds; round += 1) {
    if ((await purge(database, purgeLimit)) < purgeLimit) return
  }
}
