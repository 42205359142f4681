import type { CallStatus } from '../contract/states.ts'
import { formatDateTime } from '../contract/date-time.ts'
import type { Queryable } from '../database/database.ts'
import { calleeZones } from '../domains/calls/calling-windows.ts'
import { zonesOfText } from '../domains/calls/lane-store.ts'
import { policyOfJson } from '../domains/organizations/calling-policy.ts'
import {
  loadForExplanation,
  maxAhead,
  type ExplainRow,
  type StoredDecision,
} from './explain-store.ts'
import { lackSentences } from './lack-sentences.ts'
import { pausedSentence } from './paused-sentence.ts'

/** What a queued call waits for; the first that applies. */
export type WaitReason =
  | 'no_dispatcher'
  | 'no_trunk'
  | 'no_caller_id'
  | 'no_engine'
  | 'trunk_down'
  | 'paused'
  | 'calling_hours'
  | 'carrier_congestion'
  | 'attempts_per_day'
  | 'not_sent'
  | 'organization_concurrency'
  | 'channels'
  | 'node_channels'
  | 'calls_per_second'
  | 'turn'

export interface Waiting {
  readonly reason: WaitReason
  /** For people. */
  readonly sentence: string
  /** RFC 3339; left out where nobody can know. */
  readonly until?: string
}

/** Why a call is as it is (as commands and dashboard print it). */
export interface CallExplanation {
  readonly id: string
  readonly status: CallStatus
  readonly attempt: number
  /** Only of a queued call that nobody has claimed. */
  readonly waiting?: Waiting
  /** Everything decided about it, oldest first. */
  readonly decisions: readonly StoredDecision[]
}

/** Undefined: the organization has no such call. */
export const explainCall = async (
  db: Queryable,
  organizationId: string,
  callId: string,
): Promise<CallExplanation | undefined> => {
  const row = await loadForExplanation(db, organizationId, callId)
  if (!row) return undefined
  const { id, status, attempt } = row
  const decisions = row.decisions.map((decision) => ({
    ...decision,
    at: utc(decision.at),
    ...(decision.until !== undefined && { until: utc(decision.until) }),
  }))
  const isWaiting = status === 'queued' && !row.is_claimed
  return { id, status, attempt, ...(isWaiting && { waiting: whyItWaits(row) }), decisions }
}

/** PostgreSQL writes instants into JSON with its own offset. */
const utc = (instant: string): string => formatDateTime(new Date(instant))

const whyItWaits = (row: ExplainRow): Waiting =>
  row.dispatchers === 0
    ? { reason: 'no_dispatcher', sentence: 'No dispatcher is running.' }
    : (noRoute(row) ?? closedLane(row) ?? ownTime(row) ?? fullCapacity(row) ?? itsTurn(row))

/** No node serves its route: it is not claimed at all until one does. */
const noRoute = ({ servers, lacks }: ExplainRow): Waiting | undefined => {
  if (servers > 0) return undefined
  const missing = (['no_trunk', 'no_caller_id'] as const).filter((lack) => lacks.includes(lack))
  const [reason] = missing
  return reason === undefined
    ? { reason: 'no_dispatcher', sentence: 'No dispatcher that serves its route is running.' }
    : { reason, sentence: missing.map((lack) => lackSentences[lack]).join(' ') }
}

const closedLane = (row: ExplainRow): Waiting | undefined => {
  if (row.is_paused) return { reason: 'paused', sentence: pausedSentence(row.lane_kind) }
  if (row.is_open) return undefined
  if (!row.is_opening_known) {
    return { reason: 'calling_hours', sentence: 'Its calling hours are being worked out.' }
  }
  const window =
    row.window_time_zone === null
      ? ''
      : `, narrowed by its batch’s window in ${row.window_time_zone}`
  const where = `${policyZonesOf(row)}${window}`
  if (!row.opens_at) {
    return { reason: 'calling_hours', sentence: `No calling hours are within sight in ${where}.` }
  }
  return {
    reason: 'calling_hours',
    sentence: `It is outside the calling hours in ${where}.`,
    until: formatDateTime(row.opens_at),
  }
}

/** The zones in which dispatch judges the policy: of the number, or where it has none that serve, of the organization. */
const policyZonesOf = ({ policy, time_zones }: ExplainRow): string => {
  const ofNumber = zonesOfText(time_zones)
  const judged = calleeZones(policyOfJson(policy), ofNumber)
  return judged === ofNumber ? judged.join(', ') : 'the organization’s time zone'
}

const ownTimeSentences = {
  carrier_congestion: 'The carrier was congested; the call is dialled again later.',
  attempts_per_day: 'The number was dialled as often as the policy allows on one day.',
  not_sent: 'Its last attempt could not be sent; it is dialled again shortly.',
  no_engine: lackSentences.no_engine,
  trunk_down: 'The trunk could not be used; the call is dialled once it can.',
} as const

const ownTime = (row: ExplainRow): Waiting | undefined => {
  if (row.is_due) return undefined
  const reason = row.wait_reason ?? 'not_sent'
  const until = row.not_before && formatDateTime(row.not_before)
  return { reason, sentence: ownTimeSentences[reason], ...(until !== null && { until }) }
}

const fullCapacity = (row: ExplainRow): Waiting | undefined => {
  if (row.live_calls >= row.concurrency) {
    return {
      reason: 'organization_concurrency',
      sentence: `The organization has ${callsLive(row.live_calls)} and may have ${row.concurrency}.`,
    }
  }
  if (row.channels !== null && row.live_channels >= row.channels) {
    return { reason: 'channels', sentence: takenSentence(row.channels, 'the trunk') }
  }
  if (row.live_on_nodes >= row.node_channels) {
    const holders = row.servers === 1 ? 'the node' : `the ${row.servers} nodes`
    return { reason: 'node_channels', sentence: takenSentence(row.node_channels, holders) }
  }
  if (row.tokens < 1) {
    return {
      reason: 'calls_per_second',
      sentence: `The trunk takes ${row.calls_per_second} calls per second.`,
    }
  }
  return undefined
}

const takenSentence = (channels: number, holders: string): string =>
  channels === 1
    ? `The one channel of ${holders} is taken.`
    : `All ${channels} channels of ${holders} are taken.`

const callsLive = (count: number): string => `${count} ${count === 1 ? 'call' : 'calls'} live`

const itsTurn = ({ ahead }: ExplainRow): Waiting => ({
  reason: 'turn',
  sentence: aheadSentence(ahead),
})

const aheadSentence = (ahead: number): string => {
  if (ahead === 0) return 'It is the next of its lane.'
  if (ahead === 1) return '1 call of its lane comes first.'
  return `${ahead === maxAhead ? `At least ${maxAhead}` : ahead} calls of its lane come first.`
}
