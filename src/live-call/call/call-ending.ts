import type { StopReason } from '../../domains/calls/lifecycle/hand-over.ts'
import type { DialFailure } from '../../telephony/carrier.ts'
import type { NobodyKind } from '../../conversation/answering-party/answer-classifier.ts'
import type { RequestedHangUp } from '../media/media-protocol.ts'

/** How a call ends, in the contract's terms (decision D3). Absent members stay unset. */
export interface CallEnding {
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly answerStatus?: 'answered' | 'no_answer' | 'busy' | 'voicemail' | 'unknown'
  /** Only what is certain without reading the conversation; the summary job finds the rest. */
  readonly outcome?: string
  /** One sentence, at most 500 characters. */
  readonly outcomeReason?: string
}

/** The result of an unanswered attempt. */
export type AttemptEnding =
  | { readonly kind: 'ended'; readonly ending: CallEnding }
  /** The carrier has no capacity and no phone can have rung: back to the queue. */
  | { readonly kind: 'congested'; readonly reason: string; readonly retryAfterMs?: number }
  /** No call can use the trunk, and no phone can have rung: back to the queue. */
  | { readonly kind: 'trunk_down'; readonly reason: string }
  /** No INVITE left this process: back to the queue. */
  | { readonly kind: 'unsent'; readonly reason: string }
  /** Another node has ended the call in the database: nothing is written. */
  | { readonly kind: 'lost' }

/** Why we stopped dialling by ourselves. */
export type DialAbort =
  | { readonly kind: StopReason | 'ring_timeout' }
  | { readonly kind: 'breakdown'; readonly reason: string }

/** Why an answered call ended. */
export type ConversationEnd =
  | { readonly kind: 'callee_hung_up' }
  | { readonly kind: 'hang_up'; readonly reason: RequestedHangUp }
  | { readonly kind: 'duration_cap' }
  | { readonly kind: 'cancel_requested' | 'shutdown' | 'media_silence' }
  | { readonly kind: 'breakdown'; readonly reason: string }
  /** The callee did not take the line back. */
  | { readonly kind: 'held_too_long'; readonly limitMs: number }
  /** Another node has ended the call in the database: we hang up and write nothing. */
  | { readonly kind: 'lost' }

/** Facts found during the call. */
export interface TalkFacts {
  readonly voicemail: 'none' | 'skipped' | 'message_left'
  readonly optedOut: boolean
  /** The carrier has connected the callee with the target in the agent's settings. */
  readonly isTransferred: boolean
  /** A machine or the network answered instead of a person. */
  readonly nobody?: NobodyKind
  /** One of the offered outcomes, if the agent gave one when it ended the call. */
  readonly reportedOutcome?: string
}

/** The table of decision D3 for everything before an answer. `abort` is our own action, if any. */
export const endingOfFailure = (
  failure: DialFailure,
  abort: DialAbort | undefined,
): AttemptEnding => {
  if (abort?.kind === 'lease_lost') return { kind: 'lost' }
  switch (failure.cause) {
    case 'busy':
    case 'no_answer':
      return ended({
        status: 'completed',
        answerStatus: failure.cause,
        ...notReached(failure.reason),
      })
    case 'congestion':
      // After a 18x the phone may have rung, so dialling again is forbidden.
      return failure.rang ? ended(notPlaced(failure.reason)) : congested(failure)
    case 'not_sent':
      return endingOfUnsent(failure, abort)
    case 'cancelled':
      return failure.invited ? endingOfAbort(failure, abort) : endingOfUnsent(failure, abort)
    case 'authentication':
      return failure.rang ? ended(notPlaced(failure.reason)) : trunkDown(failure)
    case 'no_route':
      // An INVITE without a response may have rung a phone: only an unsent one is dialled again.
      return failure.invited ? ended(notPlaced(failure.reason)) : trunkDown(failure)
    case 'rejected':
    case 'media_mismatch':
      return ended(notPlaced(failure.reason))
  }
}

/** A call that could not even be tried. */
export const endingOfProblem = (reason: string): AttemptEnding => ended(notPlaced(reason))

/** The table of decision D3 for everything after an answer. */
export const endingOfConversation = (
  end: Exclude<ConversationEnd, { kind: 'lost' }>,
  facts: TalkFacts,
): CallEnding => {
  const answered = { answerStatus: answerStatusOf(facts) }
  const learned = outcomeOfFacts(facts)
  switch (end.kind) {
    case 'cancel_requested':
      return { status: 'cancelled', ...answered, ...learned }
    case 'shutdown':
      // Our BYE ends a call like any other BYE (D3): people talked, and their words are kept.
      return {
        status: 'completed',
        ...answered,
        ...because('The service was shut down during the call.', learned),
      }
    case 'media_silence':
      return {
        status: 'failed',
        ...answered,
        ...because('No audio arrived from the carrier for 30 seconds.', learned),
      }
    case 'breakdown':
      return { status: 'failed', ...answered, ...because(end.reason, learned) }
    case 'held_too_long':
      return {
        status: 'completed',
        ...answered,
        ...because(
          `The callee held the line for longer than ${Math.round(end.limitMs / 1000)} seconds.`,
          learned,
        ),
      }
    case 'duration_cap':
    case 'hang_up':
    case 'callee_hung_up':
      return { status: 'completed', ...answered, ...learned }
  }
}

const ended = (ending: CallEnding): AttemptEnding => ({ kind: 'ended', ending })

const congested = ({ reason, retryAfterMs }: DialFailure): AttemptEnding => ({
  kind: 'congested',
  reason,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
})

const trunkDown = ({ reason }: DialFailure): AttemptEnding => ({ kind: 'trunk_down', reason })

const notReached = (outcomeReason: string) => ({ outcome: 'not_reached', outcomeReason })

/** A call that reached nobody, by a fault. */
export const notPlaced = (reason: string): CallEnding => ({
  status: 'failed',
  answerStatus: 'unknown',
  ...notReached(reason),
})

/** Nothing left the socket: a cancellation takes effect, anything else goes back to the queue. */
const endingOfUnsent = (failure: DialFailure, abort: DialAbort | undefined): AttemptEnding => {
  if (abort?.kind === 'cancel_requested') return ended({ status: 'cancelled' })
  return { kind: 'unsent', reason: abort?.kind === 'breakdown' ? abort.reason : failure.reason }
}

const endingOfAbort = (failure: DialFailure, abort: DialAbort | undefined): AttemptEnding => {
  switch (abort?.kind) {
    case 'cancel_requested':
      return ended({ status: 'cancelled' })
    case 'ring_timeout':
      return ended({
        status: 'completed',
        answerStatus: 'no_answer',
        ...notReached('The phone was not answered in time.'),
      })
    case 'shutdown':
      return ended(notPlaced('The service was shut down while the call was being placed.'))
    case 'breakdown':
      return ended(notPlaced(abort.reason))
    case 'lease_lost':
    case undefined:
      return ended(notPlaced(failure.reason))
  }
}

/** A busy tone after an answer is a busy phone; a fax or an announcement reveals nothing about the person (D3). */
const answerStatusOf = ({
  voicemail,
  nobody,
}: TalkFacts): NonNullable<CallEnding['answerStatus']> => {
  if (voicemail !== 'none') return 'voicemail'
  if (nobody === undefined) return 'answered'
  return nobody === 'busy' ? 'busy' : 'unknown'
}

const nobodySentences: Readonly<Record<NobodyKind, string>> = {
  fax: 'A fax machine or a modem answered.',
  busy: 'The line was answered with a busy tone.',
  unobtainable: 'The network answered that the number cannot be reached.',
}

type Learned = Pick<CallEnding, 'outcome' | 'outcomeReason'>

const outcomeOfFacts = (facts: TalkFacts): Learned => {
  if (facts.optedOut) {
    return { outcome: 'opted_out', outcomeReason: 'The contact asked not to be called again.' }
  }
  if (facts.isTransferred) {
    return { outcome: 'transferred', outcomeReason: 'The contact was connected with a colleague.' }
  }
  if (facts.nobody !== undefined) return notReached(nobodySentences[facts.nobody])
  if (facts.voicemail === 'message_left') {
    return { outcome: 'voicemail_left', outcomeReason: 'A voicemail answered and got the message.' }
  }
  if (facts.voicemail === 'skipped') {
    return {
      outcome: 'voicemail_skipped',
      outcomeReason: 'A voicemail answered; no message was left.',
    }
  }
  return facts.reportedOutcome === undefined ? {} : { outcome: facts.reportedOutcome }
}

/** An opt-out or a voicemail stays the outcome of a call that broke; the reason describes the failure. */
const because = (outcomeReason: string, learned: Learned): Learned => ({
  ...learned,
  outcomeReason,
})
