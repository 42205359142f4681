import type { RouteName } from '../../organizations/organization-mode.ts'
import type { CallOrigin } from './call-states.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'

/* How dispatch hands a call over to the part that talks to the phone, and has it stopped. */

/** What is known of a call before its dial is committed. */
export interface AdmittedCall {
  readonly organizationId: OrganizationId
  readonly callId: string
  readonly contactId: string
  readonly agentId: string
  /** The version pinned when the call was accepted. */
  readonly agentVersion: number
  /** E.164 with `+`, as the contact had it when the call was accepted. */
  readonly phoneNumber: string
  /** Fences every write about this call: a later holder's token makes ours touch no row. */
  readonly leaseToken: string
  readonly origin: CallOrigin
  /** By which it is dialled: its organization's. */
  readonly route: RouteName
  /** The trunk that was chosen for a live call. */
  readonly trunk?: string | undefined
  /** The number that was chosen for a live call, E.164. */
  readonly callerId?: string | undefined
}

/** A call whose `dialing` state is committed under our lease. */
export interface DialableCall extends AdmittedCall {
  /** 1 for the first dial; grows when carrier congestion sent the call back to the queue. */
  readonly attempt: number
  /** Asked right before the packet leaves: whether the lease is still ours by the monotonic clock. */
  readonly mayInvite: () => boolean
  /** Chooses another trunk after those that failed before a phone could ring; undefined: there is none. */
  readonly nextTrunk?: (tried: readonly string[]) => Promise<string | undefined>
}

/**
 * A call that the gate is about to let through: what it needs before its INVITE is got ready while `dialing` is still being
 * committed. Nothing of it reaches the phone before `run`, which is called once `dialing` is durable; else `release` is.
 */
export interface PreparedCall {
  readonly run: RunCall
  /** Lets go of what was got ready. Never rejects. */
  release(): Promise<void>
}

/** Never throws: `run` reports what could not be got ready. */
export type PrepareCall = (call: AdmittedCall) => PreparedCall

/**
 * Carries one call from INVITE to its terminal state, or back to the queue, and writes its progress, every write fenced by
 * the lease's token. `signal` aborts with a `CallStop`. Resolves when nothing of the call is left running. Rejects only for
 * bugs and for a database that stays away: dispatch logs it once and settles the row.
 */
export type RunCall = (call: DialableCall, signal: AbortSignal) => Promise<void>

/** Why dispatch stops a running call. */
export type StopReason =
  | 'cancel_requested' // hang up; the call ends `cancelled` unless another end commits first
  | 'shutdown' // the time to finish is over: hang up, the call ends as it stands
  | 'lease_lost' // another node has ended this call in the database: hang up, write nothing

/** The reason that the signal of a running call is aborted with. */
export class CallStop extends Error {
  override readonly name = 'CallStop'
  readonly reason: StopReason

  constructor(reason: StopReason) {
    super(`The call was stopped: ${reason}.`)
    this.reason = reason
  }
}

/** Why the signal was aborted. An abort that dispatch did not write is a shutdown. */
export const stopReasonOf = ({ reason }: AbortSignal): StopReason =>
  reason instanceof CallStop ? reason.reason : 'shutdown'
