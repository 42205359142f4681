import type { Config } from '../../config/read-config.ts'
import { ScriptedRealtimeServer } from '../../conversation/engines/scripted/scripted-realtime-server.ts'
import type { Database } from '../../database/database.ts'
import type { PrepareCall } from '../../domains/calls/lifecycle/hand-over.ts'
import { createFindOurNumber } from '../../domains/calls-back/our-numbers.ts'
import { TrunkCircuit } from '../../dispatch/pacing/trunk-circuit.ts'
import { createTrunkWatch } from '../../dispatch/pacing/trunk-watch.ts'
import type { SecretBox } from '../../domains/organizations/secret-box.ts'
import type { PriceTable } from '../../domains/results/price-table.ts'
import { createEngineChoice, type EngineChoice } from '../../live-call/call/choose-engine.ts'
import { createLiveRegistry, type LiveRegistry } from '../../live-call/call/live-registry.ts'
import { createCallsBack } from '../../live-call/calls-back/calls-back.ts'
import { createMessagePlayer } from '../../live-call/calls-back/message-player.ts'
import { createMessageSpeech } from '../../live-call/calls-back/message-speech.ts'
import { createPlayMessage } from '../../live-call/calls-back/play-message.ts'
import { createProviderBook } from '../../live-call/call/provider-book.ts'
import { createTalks, type Talks } from '../../live-call/call/talks.ts'
import { createCallLedger } from '../../live-call/call/call-ledger.ts'
import { createPrepareByRoute, socketOf } from '../../live-call/call/prepare-by-route.ts'
import { mediaThreads } from '../../live-call/media/media-threads.ts'
import { MediaWorkerPool } from '../../live-call/media/media-worker-pool.ts'
import type { Clock } from '../../runtime/time.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import type { Service } from '../../runtime/service.ts'
import { createTrunkFleet, type TrunkFleet } from '../../live-call/trunks/trunk-fleet.ts'
import { nationalDigits } from '../../numbering/national-number.ts'
import { personaVocabulary } from '../../telephony/sandbox/personas.ts'
import { createSandboxLine } from '../../telephony/sandbox/sandbox-line.ts'
import type { Trunk } from '../../telephony/trunk-uri.ts'
import { endCall } from '../call-end.ts'

interface MediaRoleOptions {
  readonly config: Pick<Config, 'sip' | 'dialing' | 'callsBack' | 'engines' | 'program'>
  readonly database: Database
  readonly box: SecretBox
  /** The trunk of the environment. */
  readonly environment: Trunk | undefined
  /** The local SIP port of the sandbox; the trunks have the configured one, if there are any. */
  readonly sandboxPort: number
  /** The folder for recordings of live calls; it exists. */
  readonly spoolFolder: string
  /** The task that encodes the spools of this node. */
  readonly encodingTask: string
  readonly prices: PriceTable
  readonly clock: Clock
  readonly logger: Logger
  readonly telemetry: Telemetry
}

export interface MediaRole {
  readonly fleet: TrunkFleet
  /** Telephony, the media threads and the scripted model; they start side by side. */
  readonly services: readonly Service[]
  /** Watches the trunks; started with dispatch. */
  readonly watch: Service
  /** How many calls the threads can carry now. */
  readonly capacity: () => number
  readonly tickLatenessMs: () => number
  readonly prepareCall: PrepareCall
  readonly engineFor: EngineChoice
  /** The conversations of this process. */
  readonly live: LiveRegistry
  /** Talks with agents in the browser. */
  readonly talks: Talks
}

/** The media role: carries a call from INVITE to its terminal state. */
export const createMediaRole = (options: MediaRoleOptions): MediaRole => {
  const { config, database, spoolFolder, clock, logger, telemetry } = options
  const { allowPrivateNetwork } = config.program
  const scripted = new ScriptedRealtimeServer({ vocabulary: personaVocabulary, logger })
  const sandbox = createSandboxLine(options.sandboxPort, logger, telemetry)
  const player = createMessagePlayer(logger)
  const callsBack = createCallsBack({
    database,
    findNumber: createFindOurNumber(config.sip.callerId),
    installation: config.callsBack.answer,
    channels: config.callsBack.channels,
    playMessage: createPlayMessage({
      speech: createMessageSpeech({
        tts: config.engines.tts,
        sandboxUrl: () => scripted.httpUrl,
      }),
      player,
      socketOf: (line) => socketOf(line, config.sip.rtpPorts),
      logger,
    }),
    telemetry,
    logger,
  })
  const fleet = createTrunkFleet({
    database,
    box: options.box,
    environment: options.environment,
    settings: config.sip,
    national: nationalDigits,
    onCallBack: callsBack.take,
    createCircuit: (gateway, ping) =>
      new TrunkCircuit({ database, gateway, ping, logger, telemetry }),
    logger,
    telemetry,
  })
  const watch = createTrunkWatch({ database, circuits: () => fleet.circuits(), logger })
  const media = new MediaWorkerPool({
    ...mediaThreads(config.dialing.maxChannels),
    socket: socketOf(sandbox, config.sip.rtpPorts),
    logger,
  })
  const live = createLiveRegistry()
  const providers = createProviderBook(database, options.box, logger)
  const engineFor = createEngineChoice({
    engines: config.engines,
    findProvider: providers.find,
    allowPrivateNetwork,
    sandboxUrl: () => scripted.url,
  })
  const talks = createTalks({
    media,
    engineFor,
    allowPrivateNetwork,
    monotonicMs: () => clock.monotonicMs(),
    logger,
  })
  const prepareCall = createPrepareByRoute({
    database,
    sandbox,
    trunks: fleet,
    media,
    portRange: config.sip.rtpPorts,
    engineFor,
    allowPrivateNetwork,
    ringTimeoutSeconds: config.dialing.ringTimeoutSeconds,
    maxHoldSeconds: config.dialing.maxHoldSeconds,
    ledger: createCallLedger({
      database,
      endCall,
      encodingTask: options.encodingTask,
      prices: options.prices,
      telemetry,
    }),
    live,
    spoolFolder,
    clock,
    logger,
  })
  return {
    live,
    talks,
    fleet,
    services: [providers, scripted, sandbox, media, talks, player, callsBack],
    watch,
    capacity: () => media.capacity(),
    tickLatenessMs: () => media.load().latenessP99Ms,
    prepareCall,
    engineFor,
  }
}
