import type { CallOrigin } from '../domains/calls/call-states.ts'

/**
 * Carries one claimed call from INVITE to its terminal state. Called once the row says `dialing` and that commit is
 * durable. The row's progress is written by the callee, every write fenced by `leaseToken`. Resolves when nothing of
 * the call is left running; a rejection is logged once and the row is settled by dispatch.
 */
export type RunCall = (call: DialableCall, signal: AbortSignal) => Promise<void>

/** Why the signal of a running call was aborted (`signal.reason`). */
export type CallAbortReason =
  | 'cancel_requested' // hang up; the call ends `cancelled` unless another end commits first
  | 'drain' // the time to finish is over: hang up, the call ends as it stands
  | 'lease_lost' // another node has ended this call in the database: hang up, write nothing

export interface DialableCall {
  readonly organizationId: string
  readonly callId: string
  readonly contactId: string
  readonly agentId: string
  /** The version pinned when the call was accepted. */
  readonly agentVersion: number
  /** E.164, as the contact had it when the call was accepted. */
  readonly phoneNumber: string
  /** Fences every write about this call. */
  readonly leaseToken: string
  readonly origin: CallOrigin
  /** 1 for the first dial; grows when carrier congestion sent the call back to the queue. */
  readonly attempt: number
  /** Asked right before the packet leaves: whether the lease is still ours by the monotonic clock. */
  readonly mayInvite: () => boolean
}
