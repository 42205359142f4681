import type { Database } from '../../database/database.ts'
import type { AdmittedCall, PreparedCall } from '../../domains/calls/lifecycle/hand-over.ts'
import type { OrganizationMode } from '../../domains/organizations/organization-mode.ts'
import type { Line } from '../../telephony/line.ts'
import type { SandboxLine } from '../../telephony/sandbox/sandbox-line.ts'
import type { MediaSocketSettings } from '../media/media-protocol.ts'
import type { MediaWorkerPool } from '../media/media-worker-pool.ts'
import type { EngineChoice } from './choose-engine.ts'
import { createLoadCallPlan } from './load-call-plan.ts'
import { createPrepareCall, type RunCallDependencies } from './run-call.ts'

interface PrepareByRouteOptions extends Pick<
  RunCallDependencies,
  'ledger' | 'spoolFolder' | 'clock' | 'logger'
> {
  readonly database: Database
  readonly sandbox: SandboxLine
  /** Undefined: no trunk is configured. */
  readonly trunk: Line | undefined
  readonly media: Pick<MediaWorkerPool, 'open'>
  /** Local RTP ports. */
  readonly portRange: MediaSocketSettings['portRange']
  readonly engineFor: EngineChoice
  /** Whether the tools of agents may reach private addresses. */
  readonly allowPrivateNetwork: boolean
  readonly ringTimeoutSeconds: number
}

/**
 * Prepares a call on the line of its organization's route. A call of one mode uses the carrier, the caller ID and the
 * engines of that mode only. Live calls need a trunk and a caller ID.
 */
export const createPrepareByRoute = (options: PrepareByRouteOptions) => {
  const { sandbox, trunk } = options
  const prepareSandbox = prepareOn(sandbox, sandbox.callerId, 'sandbox', options)
  const prepareLive =
    trunk?.callerId === undefined ? undefined : prepareOn(trunk, trunk.callerId, 'live', options)
  return {
    servesLive: prepareLive !== undefined,
    prepareCall: (call: AdmittedCall): PreparedCall => {
      if (call.route === 'sandbox') return prepareSandbox(call)
      if (prepareLive === undefined) throw new Error('A live call was claimed without a trunk.')
      return prepareLive(call)
    },
  }
}

const prepareOn = (
  line: Line,
  callerId: string,
  mode: OrganizationMode,
  options: PrepareByRouteOptions,
) => {
  const { database, ledger, spoolFolder, allowPrivateNetwork, clock, logger } = options
  const socket = socketOf(line, options.portRange)
  return createPrepareCall({
    carrier: line.carrier,
    media: { open: (callId) => options.media.open(callId, socket) },
    ledger,
    loadPlan: createLoadCallPlan({
      database,
      callerId,
      allowPrivateNetwork,
      engineFor: (agent) => options.engineFor(agent, mode),
      logger,
    }),
    ringTimeoutMs: options.ringTimeoutSeconds * 1000,
    spoolFolder,
    clock,
    logger,
  })
}

/** The RTP socket of a line's calls. */
export const socketOf = (
  { mediaBindAddress, publicAddress }: Line,
  portRange: MediaSocketSettings['portRange'],
): MediaSocketSettings => ({
  bindAddress: mediaBindAddress,
  portRange,
  ...(publicAddress !== undefined && { publicAddress }),
})
