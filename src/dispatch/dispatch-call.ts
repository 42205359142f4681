import type { Database } from '../database/database.ts'
import type { EndCall } from '../domains/calls/lifecycle/end-call.ts'
import type { Logger } from '../runtime/logger.ts'
import type { ClaimedCall } from './claim/claim-calls.ts'
import { releaseClaim } from '../domains/calls/lifecycle/release-claim.ts'
import type { GateRow } from './gate-store.ts'
import { passGate, type GateOutcome, type HasLiveEngine } from './gate.ts'
import type { Lease } from './lease/lease.ts'
import type { ChosenLine, TrunkDesk } from './pacing/trunk-desk.ts'
import { endLostCall, lostTrackReason } from './lease/rescue.ts'
import type {
  AdmittedCall,
  DialableCall,
  PrepareCall,
  PreparedCall,
} from '../domains/calls/lifecycle/hand-over.ts'

interface DispatchCallOptions {
  readonly database: Database
  readonly prepareCall: PrepareCall
  readonly endCall: EndCall
  readonly lease: Lease
  readonly hasLiveEngine?: HasLiveEngine
  /** Undefined: live calls have one trunk only, which needs no choice. */
  readonly trunks?: TrunkDesk | undefined
  readonly logger: Logger
}

/**
 * Takes one claimed call through the gate and runs it, preparing it meanwhile. Never rejects: every error is logged
 * once, and the call is settled by the lease, or by the sweep of forgotten calls.
 */
export const dispatchCall = async (
  options: DispatchCallOptions,
  claimed: ClaimedCall,
  signal: AbortSignal,
): Promise<void> => {
  const logger = options.logger.child({
    organization_id: claimed.organizationId,
    call_id: claimed.callId,
  })
  try {
    const admitted = await admit(options, claimed, signal, logger)
    if (admitted) await run(options, admitted, signal, logger)
  } catch (error) {
    logger.error({ err: error }, 'a claimed call could not be dispatched')
  }
}

interface Admitted {
  readonly call: DialableCall
  readonly prepared: PreparedCall
}

const admit = async (
  { database, lease, endCall, prepareCall, hasLiveEngine, trunks }: DispatchCallOptions,
  fence: ClaimedCall,
  signal: AbortSignal,
  logger: Logger,
): Promise<Admitted | undefined> => {
  if (signal.aborted || !lease.isHeld()) {
    await releaseClaim(database, fence, { reason: 'Its node stopped before it was dialled.' })
    return undefined
  }
  const desk = fence.route === 'env' ? trunks : undefined
  const line = await desk?.choose(fence, signal)
  if (desk !== undefined && line === undefined) return undefined
  const ready: { prepared?: PreparedCall } = {}
  let isAdmitted = false
  try {
    const outcome = await passGate(database, fence, endCall, {
      onAdmitted: (row) => {
        ready.prepared = prepareCall(admittedCall(fence, row, line))
      },
      ...(hasLiveEngine && { hasLiveEngine }),
    })
    report(outcome, logger)
    if (outcome.kind !== 'dial' || !ready.prepared) return undefined
    isAdmitted = true
    const { row, attempt } = outcome
    const mayInvite = (): boolean => lease.isHeld() && !signal.aborted
    return {
      call: {
        ...admittedCall(fence, row, line),
        attempt,
        mayInvite,
        ...(desk && line && { nextTrunk: (tried) => desk.next(fence, line.trunk, tried) }),
      },
      prepared: ready.prepared,
    }
  } finally {
    if (!isAdmitted) await ready.prepared?.release()
    if (!isAdmitted && line) await desk?.giveBack(fence)
  }
}

const admittedCall = (
  fence: ClaimedCall,
  row: GateRow,
  line: ChosenLine | undefined,
): AdmittedCall => ({
  ...fence,
  ...(line && { trunk: line.trunk, callerId: line.callerId }),
  contactId: row.contact_id,
  agentId: row.agent_id,
  agentVersion: row.agent_version,
  phoneNumber: row.phone_number,
  origin: row.origin,
})

const report = (outcome: GateOutcome, logger: Logger): void => {
  switch (outcome.kind) {
    case 'dial':
      return logger.info({ status: 'dialing', attempt: outcome.attempt }, 'a call is dialled')
    case 'wait':
      return logger.info({ status: 'queued', reason: outcome.reason }, 'a call waits')
    case 'ended':
      return logger.info({ status: outcome.ended.status }, 'a call ended before it was dialled')
    case 'lost':
      return logger.debug({}, 'a claimed call was taken by a cancellation or a rescue')
  }
}

const run = async (
  { database, endCall }: DispatchCallOptions,
  { call, prepared }: Admitted,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> => {
  try {
    await prepared.run(call, signal)
  } catch (error) {
    logger.error({ err: error }, 'a live call broke')
    // Changes nothing if the call was ended or requeued before the error.
    await endLostCall(database, call, lostTrackReason, endCall)
  }
}
