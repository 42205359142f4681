import type { CallOrigin } from '../domains/calls/lifecycle/call-states.ts'
import type { RouteName } from '../domains/organizations/organization-mode.ts'

/**
 * Carries one claimed call from INVITE to its terminal state. Called once the row says `dialing` and that commit is
 * durable. The row's progress is written by the callee, every write fenced by `leaseToken`. Resolves when nothing of
 * the call is left running; a rejection is logged once and the row is settled by dispatch.
 */
export type RunCall = (call: DialableCall, signal: AbortSignal) => Promise<void>

/**
 * A call that the gate is about to let through: what it needs before its INVITE is got ready while `dialing` is still being
 * committed. Nothing of it reaches the phone before `run`, which is called once `dialing` is durable; else `release` is.
 */
export interface PreparedCall {
  readonly run: RunCall
  /** Lets go of what was got ready. Never rejects. */
  release(): Promise<void>
}

/** Never throws: what cannot be got ready is told by `run`. */
export type PrepareCall = (call: AdmittedCall) => PreparedCall

/** Why the signal of a running call was aborted (`signal.reason`). */
export type CallAbortReason =
  | 'cancel_requested' // hang up; the call ends `cancelled` unless another end commits first
  | 'drain' // the time to finish is over: hang up, the call ends as it stands
  | 'lease_lost' // another node has ended this call in the database: hang up, write nothing

/** What is known of a call before its dial is committed. */
export interface AdmittedCall {
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
  /** By which it is dialled: its organization's. */
  readonly route: RouteName
}

export interface DialableCall extends AdmittedCall {
  /** 1 for the first dial; grows when carrier congestion sent the call back to the queue. */
  readonly attempt: number
  /** Asked right before the packet leaves: whether the lease is still ours by the monotonic clock. */
  readonly mayInvite: () => boolean
}
