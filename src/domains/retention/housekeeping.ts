import type { Database } from '../../database/database.ts'
import { retireInstallationSecrets } from '../organizations/installation-secrets.ts'
import { purgeDeletedRecordings } from '../recordings/deleted-recordings.ts'
import { purgeSupersededRevisions } from '../results/result-store.ts'
import { expireResults } from './expire-results.ts'
import type { JobSchedule, JobTasks } from '../../jobs/job-runner.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'

const housekeepingTask = 'housekeeping'
const purgeLimit = 5_000
/** A run deletes at most a million rows; the next one takes the rest. */
const maxRounds = 200

/** Each call is an object or two in the storage, which may be far away. */
const retentionLimit = 500

export interface HousekeepingOptions {
  readonly database: Database
  readonly storage: ObjectStorage
  /** Deletes up to `limit` expired idempotency claims and resolves with how many. */
  readonly purgeClaims: (limit: number) => Promise<number>
}

/**
 * Every ten minutes what is past its time goes: idempotency claims, superseded revisions, retired secrets, what was said
 * on calls longer ago than their organization keeps it, and the bytes of deleted recordings.
 */
export const createHousekeeping = ({
  database,
  storage,
  purgeClaims,
}: HousekeepingOptions): { readonly tasks: JobTasks; readonly schedule: JobSchedule } => ({
  tasks: {
    [housekeepingTask]: async () => {
      await inRounds(purgeLimit, purgeClaims)
      await inRounds(purgeLimit, (limit) => purgeSupersededRevisions(database, limit))
      await inRounds(retentionLimit, (limit) => expireResults(database, limit))
      await retireInstallationSecrets(database, 'media')
      await retireInstallationSecrets(database, 'cursor')
      // Last, for the storage may be away.
      await inRounds(retentionLimit, async (limit) => {
        const { listed, purged } = await purgeDeletedRecordings(database, storage, limit)
        return Math.min(listed, purged)
      })
    },
  },
  schedule: [{ task: housekeepingTask, match: '*/10 * * * *', options: { maxAttempts: 1 } }],
})

const inRounds = async (
  limit: number,
  purge: (limit: number) => Promise<number>,
): Promise<void> => {
  for (let round = 0; round < maxRounds; round += 1) {
    if ((await purge(limit)) < limit) return
  }
}
