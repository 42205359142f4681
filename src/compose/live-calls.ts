import type { Config } from '../config.ts'
import { summarize } from '../conversation/summarize.ts'
import { findAgentOfCall } from '../domains/calls/agent-of-call.ts'
import type { Database, Transaction } from '../database/database.ts'
import { createWakeRun } from '../domains/automations/wake-run.ts'
import { settleBatchOfCall } from '../domains/batches/settle-batch.ts'
import type { EndedCall, OnCallEnded } from '../domains/calls/call-ended.ts'
import { addDoNotCall } from '../domains/organizations/do-not-call.ts'
import { completeRecording, failRecording } from '../domains/recordings/recording-store.ts'
import { adoptCall } from '../live-call/adopt-call.ts'
import { createThreadEncoder } from '../live-call/encode-in-thread.ts'
import { createEncodeRecording } from '../live-call/encode-recording.ts'
import { createCallLedger, openResultsOfEndedCall } from '../live-call/finish-call.ts'
import { summaryTask, type CallJob } from '../live-call/follow-up-jobs.ts'
import { createMediaWorkerPool } from '../live-call/media-worker-pool.ts'
import { createPrepareCall } from '../live-call/run-call.ts'
import { createRecordingStore } from '../live-call/store-recording.ts'
import { createSpoolSweeper } from '../live-call/adopt-spools.ts'
import { createSummarizeCall, type Summarizer } from '../live-call/summarize-call.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { ObjectStorage } from '../storage/object-storage.ts'
import type { Carrier } from '../telephony/carrier.ts'
import { createCallPlans, type CallPlanOptions } from './call-plans.ts'
import { createJobRunner } from '../dispatch/job-runner.ts'
import { createHousekeeping } from './housekeeping.ts'
import type { Store } from './open-store.ts'
import { readPrices } from './prices.ts'
import { encodingTaskOf } from './spool.ts'

export interface LiveCallOptions {
  readonly config: Config
  readonly store: Store
  readonly carrier: Carrier
  readonly callerId: string
  readonly bindAddress: string
  readonly engineFor: CallPlanOptions['engineFor']
  readonly spoolFolder: string
  readonly storage: ObjectStorage
  readonly workers: number
  readonly clock: Clock
  readonly logger: Logger
}

const jobConcurrency = 2

/** What the source of a call has to know in the very commit that ends it. Locks come in this order. */
const createSettleCall = (database: Database): OnCallEnded => {
  const wakeRun = createWakeRun(database.hint)
  return async (tx, call) => {
    await settleBatchOfCall(tx, call)
    await wakeRun(tx, call)
  }
}

/** The media role's parts: how a call is run, ended, recorded and summarised. */
export const createLiveCallParts = (options: LiveCallOptions) => {
  const { config, store, spoolFolder, storage, clock, logger } = options
  const { database } = store
  const prices = readPrices(config.OUTDIAL_PRICES)
  const settleCall = createSettleCall(database)
  const encodeHere = encodingTaskOf(spoolFolder)
  const media = createMediaWorkerPool({
    workers: options.workers,
    channelsPerWorker: Math.ceil(config.OUTDIAL_MAX_CHANNELS / options.workers),
    socket: {
      bindAddress: options.bindAddress,
      portRange: config.OUTDIAL_RTP_PORTS,
      ...(config.OUTDIAL_PUBLIC_IP !== undefined && { publicAddress: config.OUTDIAL_PUBLIC_IP }),
    },
    logger,
  })
  const prepareCall = createPrepareCall({
    carrier: options.carrier,
    media,
    ledger: createCallLedger({
      database,
      addDoNotCall: (tx, call) =>
        addDoNotCall(tx, call.organizationId, call.phoneNumber, call.callId),
      onCallEnded: settleCall,
      encodingTask: encodeHere,
      prices,
    }),
    loadPlan: createCallPlans({
      database,
      callerId: options.callerId,
      allowPrivateNetwork: config.OUTDIAL_ALLOW_PRIVATE_NETWORK,
      engineFor: options.engineFor,
      logger,
    }),
    ringTimeoutMs: config.OUTDIAL_RING_TIMEOUT_SECONDS * 1000,
    spoolFolder,
    clock,
    logger,
  })
  const encode = createEncodeRecording({
    spoolFolder,
    encode: createThreadEncoder(),
    ...createRecordingStore(storage),
    markReady: (call, recording) => completeRecording(database, call, recording),
    markFailed: async (call) => {
      await failRecording(database, call)
    },
    logger,
  })
  const housekeeping = createHousekeeping(database, storage)
  const summarizeCall = createSummarizeCall({
    database,
    prices,
    summarize: summarizerOf(config),
    outcomesOf: async ({ organizationId, callId }) =>
      (await findAgentOfCall(database, organizationId, callId))?.outcomes ?? [],
    logger,
  })
  return {
    media,
    prepareCall,
    onCallEnded: async (tx: Transaction, call: EndedCall) => {
      await openResultsOfEndedCall(tx, call)
      await settleCall(tx, call)
    },
    sweeper: createSpoolSweeper({
      spoolFolder,
      logger,
      adopt: (call) => adoptCall(database, call, encodeHere),
    }),
    jobs: createJobRunner({
      connection: store.connection,
      database,
      schedule: housekeeping.schedule,
      concurrency: jobConcurrency,
      tasks: {
        ...housekeeping.tasks,
        [encodeHere]: (payload, helpers) =>
          encode(payload as CallJob, helpers.abortSignal ?? new AbortController().signal),
        [summaryTask]: (payload, helpers) =>
          summarizeCall(payload as CallJob, {
            isLast: helpers.job.attempts >= helpers.job.max_attempts,
            signal: helpers.abortSignal ?? new AbortController().signal,
          }),
      },
      logger,
    }),
  }
}

/** By the chat server where there is one, else from the words themselves. */
const summarizerOf = ({
  OUTDIAL_LLM_URL: url,
  OUTDIAL_LLM_KEY: key,
  OUTDIAL_LLM_MODEL: model,
}: Config): Summarizer => {
  if (url === undefined) return (input) => Promise.resolve(summarize(input))
  const settings = { url, ...(key !== undefined && { key }), ...(model !== undefined && { model }) }
  return async (input, signal) => {
    // The SDK takes a tenth of a second to load: not at every start.
    const { createModelSummarizer } = await import('../conversation/summarize-with-model.ts')
    return createModelSummarizer(settings)(input, signal)
  }
}
