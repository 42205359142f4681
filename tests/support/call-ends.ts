import type { Transaction } from '../../src/database/database.ts'
import type { CallFence } from '../../src/domains/calls/lifecycle/call-fence.ts'
import type { CallOrigin } from '../../src/domains/calls/lifecycle/call-states.ts'
import * as cancelling from '../../src/domains/calls/lifecycle/cancel-queued-call.ts'
import { cancelUndialled } from '../../src/domains/calls/lifecycle/cancel-undialled-calls.ts'
import { createEndCall } from '../../src/domains/calls/lifecycle/end-call.ts'
import { endHeld, type CallResult } from '../../src/domains/calls/lifecycle/end-held-call.ts'
import type { EndedCall } from '../../src/domains/calls/lifecycle/ended-call.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'

/** Ends calls without any consequence. */
export const endCallAlone = createEndCall([])

export const finishCall = async (
  tx: Transaction,
  fence: CallFence,
  result: CallResult,
): Promise<EndedCall | undefined> => (await endCallAlone(tx, endHeld(fence, result)))[0]

export const cancelQueuedCall = async (
  tx: Transaction,
  organizationId: OrganizationId,
  callId: string,
  reason: string,
): Promise<EndedCall | undefined> =>
  (await endCallAlone(tx, cancelling.cancelQueued(organizationId, callId, reason)))[0]

export const requestCancel = async (
  tx: Transaction,
  organizationId: OrganizationId,
  callId: string,
  origin: CallOrigin | undefined,
): Promise<EndedCall | undefined> =>
  (await endCallAlone(tx, cancelling.requestCancel(organizationId, callId, origin)))[0]

export const cancelCallsOfBatch = (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
): Promise<readonly EndedCall[]> => endCallAlone(tx, cancelUndialled(organizationId, batchId))
