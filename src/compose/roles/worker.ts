import { createSummarizer } from '../../call-text/create-summarizer.ts'
import type { Config } from '../../config/read-config.ts'
import type { Store } from '../../database/open-store.ts'
import { findAgentOfCall } from '../../domains/calls/agent-of-call.ts'
import { completeRecording, failRecording } from '../../domains/recordings/recording-store.ts'
import type { PriceTable } from '../../domains/results/price-table.ts'
import { createHousekeeping } from '../../domains/retention/housekeeping.ts'
import { purgeExpiredClaims } from '../../http/idempotency-claims.ts'
import { purgeExpiredIdentity } from '../../identity/purge-expired.ts'
import { JobRunner } from '../../jobs/job-runner.ts'
import { adoptCall } from '../../live-call/call/adopt-call.ts'
import { followUpTasks } from '../../live-call/call/follow-up-tasks.ts'
import { createSummarizeCall } from '../../live-call/call/summarize-call.ts'
import { createSpoolSweeper } from '../../live-call/recording/adopt-spools.ts'
import { createThreadEncoder } from '../../live-call/recording/encode-in-thread.ts'
import { createEncodeRecording } from '../../live-call/recording/encode-recording.ts'
import { createRecordingStore } from '../../live-call/recording/store-recording.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import type { Service } from '../../runtime/service.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'

interface WorkerRoleOptions {
  readonly config: Pick<Config, 'engines' | 'http'>
  readonly store: Store
  readonly storage: ObjectStorage
  readonly spoolFolder: string
  /** The task that encodes the spools of this node. */
  readonly encodingTask: string
  readonly prices: PriceTable
  readonly logger: Logger
  readonly telemetry: Telemetry
}

/** The worker role: jobs after calls, housekeeping, and the spools of dead processes. */
export const createWorkerRole = (options: WorkerRoleOptions): readonly Service[] => {
  const { config, store, storage, spoolFolder, encodingTask, logger } = options
  const { database, connection } = store
  const housekeeping = createHousekeeping({
    database,
    storage,
    purgeClaims: (limit) => purgeExpiredClaims(database, limit),
    requestLogDays: config.http.requestLogDays,
    purgeIdentity: (limit) => purgeExpiredIdentity(database, limit),
  })
  const jobs = new JobRunner({
    connection,
    database,
    schedule: housekeeping.schedule,
    tasks: {
      ...housekeeping.tasks,
      ...followUpTasks({
        encodingTask,
        encode: createEncodeRecording({
          spoolFolder,
          encode: createThreadEncoder(),
          ...createRecordingStore(storage),
          markReady: (call, recording) => completeRecording(database, call, recording),
          markFailed: async (call) => void (await failRecording(database, call)),
          logger,
        }),
        summarize: createSummarizeCall({
          database,
          prices: options.prices,
          summarize: createSummarizer(config.engines.llm),
          outcomesOf: async ({ organizationId, callId }) =>
            (await findAgentOfCall(database, organizationId, callId))?.outcomes ?? [],
          logger,
        }),
      }),
    },
    logger,
    telemetry: options.telemetry,
  })
  const sweeper = createSpoolSweeper({
    spoolFolder,
    logger,
    adopt: (call) => adoptCall(database, call, encodingTask),
  })
  return [jobs, sweeper]
}
