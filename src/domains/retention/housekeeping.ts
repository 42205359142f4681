import type { Database } from '../../database/database.ts'
import { retireInstallationSecrets } from '../organizations/installation-secrets.ts'
import { purgeDeletedRecordings } from '../recordings/deleted-recordings.ts'
import { purgeCallsBack } from '../calls-back/calls-back-store.ts'
import { purgeNumberDays } from '../numbers/number-store.ts'
import { purgeRequests } from '../requests/purge-requests.ts'
import { purgeSipTraces } from '../calls/sip-trace-store.ts'
import { purgeImports } from '../contacts/file/import-store.ts'
import { purgeImportWork } from '../contacts/file/import-work.ts'
import { purgeSupersededRevisions } from '../results/result-store.ts'
import { expireResults } from './expire-results.ts'
import type { JobSchedule, JobTasks } from '../../jobs/job-runner.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'

const housekeepingTask = 'housekeeping'
const purgeLimit = 5_000
/** A run deletes at most a million rows; the next one takes the rest. */
const maxRounds = 200

/** Each call has one or two objects in the storage, which may be remote. */
const retentionLimit = 500

/** A file has up to 100,000 rows. */
const importsLimit = 10

interface HousekeepingOptions {
  readonly database: Database
  readonly storage: ObjectStorage
  /** Deletes up to `limit` expired idempotency claims and resolves with how many. */
  readonly purgeClaims: (limit: number) => Promise<number>
  /** Days that the API's requests are kept. */
  readonly requestLogDays: number
  /** Deletes up to `limit` expired sessions, invitations and counts of sign-ins; resolves with how many. */
  readonly purgeIdentity: (limit: number) => Promise<number>
}

/**
 * Every ten minutes deletes what has expired: idempotency claims, sessions, invitations, superseded revisions, retired secrets, requests
 * of the API, SIP messages, calls back, abandoned imports, words of calls beyond their organization's retention, and the bytes of deleted recordings.
 * of the API, SIP messages, days of numbers, abandoned imports, words of calls beyond their organization's retention, and the bytes of deleted recordings.
 */
export const createHousekeeping = ({
  database,
  storage,
  purgeClaims,
  purgeIdentity,
  requestLogDays,
}: HousekeepingOptions): { readonly tasks: JobTasks; readonly schedule: JobSchedule } => ({
  tasks: {
    [housekeepingTask]: async () => {
      await inRounds(purgeLimit, purgeClaims)
      await inRounds(purgeLimit, purgeIdentity)
      await inRounds(purgeLimit, (limit) => purgeSupersededRevisions(database, limit))
      await inRounds(retentionLimit, (limit) => expireResults(database, limit))
      await inRounds(purgeLimit, (limit) => purgeRequests(database, requestLogDays, limit))
      await inRounds(purgeLimit, (limit) => purgeSipTraces(database, limit))
      await inRounds(purgeLimit, (limit) => purgeCallsBack(database, limit))
      await inRounds(importsLimit, (limit) => purgeImports(database, limit))
      await inRounds(purgeLimit, (limit) => purgeImportWork(database, limit))
      await inRounds(purgeLimit, (limit) => purgeNumberDays(database, limit))
      await retireInstallationSecrets(database, 'media')
      await retireInstallationSecrets(database, 'cursor')
      // Last, because the storage may be unavailable.
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
