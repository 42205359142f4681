import type { Config } from '../../config/read-config.ts'
import { ScriptedRealtimeServer } from '../../conversation/engines/scripted/scripted-realtime-server.ts'
import type { Database } from '../../database/database.ts'
import type { PrepareCall } from '../../domains/calls/lifecycle/hand-over.ts'
import { TrunkCircuit } from '../../dispatch/pacing/trunk-circuit.ts'
import type { PriceTable } from '../../domains/results/price-table.ts'
import { createEngineChoice, type EngineChoice } from '../../live-call/call/choose-engine.ts'
import { createCallLedger } from '../../live-call/call/call-ledger.ts'
import { createPrepareByRoute, socketOf } from '../../live-call/call/prepare-by-route.ts'
import { mediaThreads } from '../../live-call/media/media-threads.ts'
import { MediaWorkerPool } from '../../live-call/media/media-worker-pool.ts'
import type { Clock } from '../../runtime/time.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import type { Service } from '../../runtime/service.ts'
import { withCircuit } from '../../telephony/circuit-carrier.ts'
import { personaVocabulary } from '../../telephony/sandbox/personas.ts'
import { createTelephony, type Telephony } from '../../telephony/telephony.ts'
import { endCall } from '../call-end.ts'

interface MediaRoleOptions {
  readonly config: Pick<Config, 'sip' | 'dialing' | 'engines' | 'program'>
  readonly database: Database
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
  readonly telephony: Telephony
  /** Telephony, the media threads and the scripted model; they start side by side. */
  readonly services: readonly Service[]
  /** Watches the trunk; started with dispatch. Undefined: there is no trunk. */
  readonly circuit: TrunkCircuit | undefined
  /** How many calls the threads can carry now. */
  readonly capacity: () => number
  /** Whether calls of live organizations are claimed: this needs a trunk and a caller ID. */
  readonly servesLive: boolean
  readonly prepareCall: PrepareCall
  readonly engineFor: EngineChoice
}

/** The media role: carries a call from INVITE to its terminal state. */
export const createMediaRole = (options: MediaRoleOptions): MediaRole => {
  const { config, database, spoolFolder, clock, logger, telemetry } = options
  const { allowPrivateNetwork } = config.program
  const scripted = new ScriptedRealtimeServer({ vocabulary: personaVocabulary, logger })
  const telephony = createTelephony(config.sip, logger, telemetry)
  const { sandbox, trunk } = telephony
  const circuit =
    trunk && new TrunkCircuit({ database, route: 'env', ping: () => trunk.ping(), logger })
  const media = new MediaWorkerPool({
    ...mediaThreads(config.dialing.maxChannels),
    socket: socketOf(sandbox, config.sip.rtpPorts),
    logger,
  })
  const engineFor = createEngineChoice({
    engines: config.engines,
    allowPrivateNetwork,
    sandboxUrl: () => scripted.url,
  })
  const { servesLive, prepareCall } = createPrepareByRoute({
    database,
    sandbox,
    trunk: trunk && circuit && { ...trunk, carrier: withCircuit(trunk.carrier, circuit) },
    media,
    portRange: config.sip.rtpPorts,
    engineFor,
    allowPrivateNetwork,
    ringTimeoutSeconds: config.dialing.ringTimeoutSeconds,
    ledger: createCallLedger({
      database,
      endCall,
      encodingTask: options.encodingTask,
      prices: options.prices,
    }),
    spoolFolder,
    clock,
    logger,
  })
  return {
    telephony,
    services: [scripted, telephony, media],
    circuit,
    capacity: () => media.capacity(),
    servesLive,
    prepareCall,
    engineFor,
  }
}
