import type { Config } from '../config/read-config.ts'
import { summarize } from '../call-text/summarize.ts'
import { findAgentOfCall } from '../domains/calls/agent-of-call.ts'
import { completeRecording, failRecording } from '../domains/recordings/recording-store.ts'
import { adoptCall } from '../live-call/call/adopt-call.ts'
import { createThreadEncoder } from '../live-call/recording/encode-in-thread.ts'
import { createEncodeRecording } from '../live-call/recording/encode-recording.ts'
import { createCallLedger } from '../live-call/call/finish-call.ts'
import { summaryTask, type CallJob } from '../live-call/call/follow-up-jobs.ts'
import { createMediaWorkerPool } from '../live-call/media/media-worker-pool.ts'
import { createPrepareCall } from '../live-call/call/run-call.ts'
import { createRecordingStore } from '../live-call/recording/store-recording.ts'
import { createSpoolSweeper } from '../live-call/recording/adopt-spools.ts'
import { createSummarizeCall, type Summarizer } from '../live-call/call/summarize-call.ts'
import { purgeExpiredClaims } from '../http/idempotency-claims.ts'
import type { Clock } from '../runtime/time.ts'
import type { Logger } from '../runtime/logger.ts'
import type { ObjectStorage } from '../storage/object-storage.ts'
import { endCall } from './call-end.ts'
import { createCallPlans } from '../live-call/call/load-call-plan.ts'
import { createJobRunner } from '../jobs/job-runner.ts'
import type { AdmittedCall, PrepareCall, PreparedCall } from '../dispatch/run-call-port.ts'
import type { MediaSocketSettings } from '../live-call/media/media-protocol.ts'
import type { OrganizationMode } from '../domains/organizations/organization-mode.ts'
import type { EngineChoice } from '../live-call/call/choose-engine.ts'
import { createHousekeeping } from '../domains/retention/housekeeping.ts'
import type { Store } from '../database/open-store.ts'
import { readPrices } from '../domains/results/read-prices.ts'
import { encodingTaskOf } from '../live-call/recording/spool-location.ts'
import { TrunkCircuit } from '../dispatch/pacing/trunk-circuit.ts'
import { withCircuit } from '../telephony/circuit-carrier.ts'
import type { Line } from '../telephony/line.ts'
import type { Telephony } from '../telephony/telephony.ts'

export interface LiveCallOptions {
  readonly config: Config
  readonly store: Store
  readonly telephony: Telephony
  readonly engineFor: EngineChoice
  readonly spoolFolder: string
  readonly storage: ObjectStorage
  readonly workers: number
  readonly clock: Clock
  readonly logger: Logger
}

const jobConcurrency = 2
/** Of the range that is kept for fiction (NANP 555-0100 to 0199). */
const sandboxCallerId = '+12025550199'

/** The media role's parts: how a call is run, ended, recorded and summarised. */
export const createLiveCallParts = (options: LiveCallOptions) => {
  const { config, store, telephony, spoolFolder, storage, clock, logger } = options
  const { database } = store
  const prices = readPrices(config.program.pricesFile)
  const encodeHere = encodingTaskOf(spoolFolder)
  const media = createMediaWorkerPool({
    workers: options.workers,
    channelsPerWorker: Math.ceil(config.dialing.maxChannels / options.workers),
    socket: socketOf(telephony.sandbox, config),
    logger,
  })
  const ledger = createCallLedger({
    database,
    endCall,
    encodingTask: encodeHere,
    prices,
  })
  /** A call of one mode meets the carrier, the number and the engines of that mode, and no others. */
  const prepareBy = (line: Line, mode: OrganizationMode, callerId: string): PrepareCall =>
    createPrepareCall({
      carrier: line.carrier,
      media: { open: (callId) => media.open(callId, socketOf(line, config)) },
      ledger,
      loadPlan: createCallPlans({
        database,
        callerId,
        allowPrivateNetwork: config.program.allowPrivateNetwork,
        engineFor: (agent) => options.engineFor(agent, mode),
        logger,
      }),
      ringTimeoutMs: config.dialing.ringTimeoutSeconds * 1000,
      spoolFolder,
      clock,
      logger,
    })
  const { trunk } = telephony
  const callerId = config.sip.callerId
  const circuit =
    trunk && new TrunkCircuit({ database, route: 'env', ping: () => trunk.ping(), logger })
  const prepareLive =
    trunk === undefined || circuit === undefined || callerId === undefined
      ? undefined
      : prepareBy({ ...trunk, carrier: withCircuit(trunk.carrier, circuit) }, 'live', callerId)
  const prepareSandbox = prepareBy(telephony.sandbox, 'sandbox', sandboxCallerId)
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
  const housekeeping = createHousekeeping({
    database,
    storage,
    purgeClaims: (limit) => purgeExpiredClaims(database, limit),
  })
  const summarizeCall = createSummarizeCall({
    database,
    prices,
    summarize: summarizerOf(config.engines.llm),
    outcomesOf: async ({ organizationId, callId }) =>
      (await findAgentOfCall(database, organizationId, callId))?.outcomes ?? [],
    logger,
  })
  return {
    media,
    circuits: circuit === undefined ? [] : [circuit],
    /** Calls of live organizations reach people; without a trunk or a number to show none is claimed. */
    servesLive: prepareLive !== undefined,
    prepareCall: (call: AdmittedCall): PreparedCall => {
      if (call.route === 'sandbox') return prepareSandbox(call)
      if (prepareLive === undefined) throw new Error('A live call was claimed without a trunk.')
      return prepareLive(call)
    },
    endCall,
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

const socketOf = (line: Line, config: Config): MediaSocketSettings => ({
  bindAddress: line.mediaBindAddress,
  portRange: config.sip.rtpPorts,
  ...(line.publicAddress !== undefined && { publicAddress: line.publicAddress }),
})

/** By the chat server where there is one, else from the words themselves. */
const summarizerOf = ({ url, key, model }: Config['engines']['llm']): Summarizer => {
  if (url === undefined) return (input) => Promise.resolve(summarize(input))
  const settings = { url, ...(key !== undefined && { key }), ...(model !== undefined && { model }) }
  return async (input, signal) => {
    // The SDK takes a tenth of a second to load: not at every start.
    const { createModelSummarizer } = await import('../call-text/summarize-with-model.ts')
    return createModelSummarizer(settings)(input, signal)
  }
}
