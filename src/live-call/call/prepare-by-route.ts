import type { Database } from '../../database/database.ts'
import type { AdmittedCall, PreparedCall } from '../../domains/calls/lifecycle/hand-over.ts'
import type { OrganizationMode } from '../../domains/organizations/organization-mode.ts'
import type { Carrier } from '../../telephony/carrier.ts'
import type { Line } from '../../telephony/line.ts'
import type { SandboxLine } from '../../telephony/sandbox/sandbox-line.ts'
import type { MediaSocketSettings } from '../media/media-protocol.ts'
import { MediaUnavailableError } from '../media/media-port.ts'
import type { MediaWorkerPool } from '../media/media-worker-pool.ts'
import type { TrunkFleet } from '../trunks/trunk-fleet.ts'
import type { EngineChoice } from './choose-engine.ts'
import { createLoadCallPlan } from './load-call-plan.ts'
import { createPrepareCall, type RunCallDependencies } from './run-call.ts'

interface PrepareByRouteOptions extends Pick<
  RunCallDependencies,
  'ledger' | 'live' | 'spoolFolder' | 'clock' | 'logger'
> {
  readonly database: Database
  readonly sandbox: SandboxLine
  /** The trunks of live organizations. */
  readonly trunks: Pick<TrunkFleet, 'carrier' | 'find'>
  readonly media: Pick<MediaWorkerPool, 'open'>
  /** Local RTP ports. */
  readonly portRange: MediaSocketSettings['portRange']
  readonly engineFor: EngineChoice
  /** Whether the tools of agents may reach private addresses. */
  readonly allowPrivateNetwork: boolean
  readonly ringTimeoutSeconds: number
  readonly maxHoldSeconds: number
}

/**
 * Prepares a call on the line of its organization's route: the sandbox, or the trunk that was chosen for it. A call of
 * one mode uses the carrier, the caller ID and the engines of that mode only. A live call shows the number that was chosen.
 */
export const createPrepareByRoute = (options: PrepareByRouteOptions) => {
  const { sandbox, trunks, portRange } = options
  const sandboxSocket = socketOf(sandbox, portRange)
  const prepareSandbox = prepareOn(
    { carrier: sandbox.carrier, callerId: sandbox.callerId, mode: 'sandbox' },
    (callId) => options.media.open(callId, sandboxSocket),
    options,
  )
  const prepareLive = (call: AdmittedCall): PreparedCall => {
    const { callerId } = call
    if (callerId === undefined) throw new Error('A live call was admitted without a caller ID.')
    const trunk = trunks.find(call.trunk ?? '')
    const prepare = prepareOn(
      { carrier: trunks.carrier, callerId, mode: 'live' },
      (callId) => {
        if (trunk === undefined) return Promise.reject(new MediaUnavailableError(goneReason))
        return options.media.open(callId, socketOf(trunk, portRange))
      },
      options,
    )
    return prepare(call)
  }
  return (call: AdmittedCall): PreparedCall =>
    call.route === 'sandbox' ? prepareSandbox(call) : prepareLive(call)
}

const goneReason = 'Its trunk was removed or changed at the moment of dialling.'

interface RouteLine {
  readonly carrier: Carrier
  readonly callerId: string
  readonly mode: OrganizationMode
}

const prepareOn = (
  { carrier, callerId, mode }: RouteLine,
  openMedia: RunCallDependencies['media']['open'],
  options: PrepareByRouteOptions,
) => {
  const { database, ledger, live, spoolFolder, allowPrivateNetwork, clock, logger } = options
  return createPrepareCall({
    carrier,
    media: { open: openMedia },
    ledger,
    ...(live && { live }),
    loadPlan: createLoadCallPlan({
      database,
      callerId,
      allowPrivateNetwork,
      engineFor: (agent, organizationId) => options.engineFor(agent, mode, organizationId),
      logger,
    }),
    ringTimeoutMs: options.ringTimeoutSeconds * 1000,
    maxHoldMs: options.maxHoldSeconds * 1000,
    spoolFolder,
    clock,
    logger,
  })
}

/** The RTP socket of a line's calls. */
export const socketOf = (
  { mediaBindAddress, publicAddress }: Pick<Line, 'mediaBindAddress' | 'publicAddress'>,
  portRange: MediaSocketSettings['portRange'],
): MediaSocketSettings => ({
  bindAddress: mediaBindAddress,
  portRange,
  ...(publicAddress !== undefined && { publicAddress }),
})
