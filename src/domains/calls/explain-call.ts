import { formatDateTime } from '../../contract/date-time.ts'
import type { ExplanationReason } from '../../contract/explanations.ts'
import type { CallStatus } from '../../contract/states.ts'
import type { Queryable } from '../../database/database.ts'
import { policyOfJson } from '../organizations/calling-policy.ts'
import { holidayBetween } from '../../calling-hours/holidays.ts'
import { calleeZones } from '../../calling-hours/openings.ts'
import {
  loadForExplanation,
  maxAhead,
  type ExplainRow,
  type StoredDecision,
  type StoredTry,
} from './explain-store.ts'
import { ownCongestion, pacedTrunk } from './explain-congestion.ts'
import { lackSentences } from './lack-sentences.ts'
import { ownWaits } from './own-waits.ts'
import { ladderOf } from './sip-ladder.ts'
import { listSipTraces, type StoredSipTrace } from './sip-trace-store.ts'
import { zonesOfText, type LaneKind } from './lane-store.ts'
import { pausedSentence } from './paused-sentence.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** Why a call is in its state: printed by commands, and the source of GET /calls/{call_id}/explanation. */
export interface CallExplanation {
  readonly id: string
  readonly status: CallStatus
  readonly attempt: number
  /** What a queued call waits for, the first obstacle first; empty for any other. */
  readonly reasons: readonly ExplanationReason[]
  /** Every decision about it, oldest first; the SIP messages of an attempt stand at its `dial`. */
  readonly decisions: readonly ExplainedDecision[]
}

interface ExplainedDecision extends StoredDecision {
  readonly sip?: string[]
}

/** The reader: a client of the API gets no id of a call that the API does not show. */
export type Reader = 'operator' | 'api'

/** Undefined: the organization has no such call. */
export const explainCall = async (
  db: Queryable,
  organizationId: OrganizationId,
  callId: string,
  reader: Reader = 'operator',
): Promise<CallExplanation | undefined> => {
  const [row, traces] = await Promise.all([
    loadForExplanation(db, organizationId, callId),
    listSipTraces(db, organizationId, callId),
  ])
  if (!row) return undefined
  const { id, status, attempt } = row
  const decisions = row.decisions.map((decision) => ({
    ...decision,
    at: utc(decision.at),
    ...(decision.until !== undefined && { until: utc(decision.until) }),
  }))
  const tries = row.tries.map((each) => decisionOfTry(each, reader))
  return {
    id,
    status,
    attempt,
    reasons: reasonsOf(row, reader),
    decisions: [...withLadders(decisions, attempt, traces, reader), ...tries].toSorted((a, b) =>
      a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
    ),
  }
}

/** Counted from the last attempt, because only the newest decisions are kept. */
const withLadders = (
  decisions: readonly StoredDecision[],
  lastAttempt: number,
  traces: readonly StoredSipTrace[],
  reader: Reader,
): readonly ExplainedDecision[] => {
  let attempt = lastAttempt
  return decisions
    .toReversed()
    .map((decision) => {
      if (decision.decision !== 'dial') return decision
      const trace = traces.find((each) => each.attempt === attempt)
      attempt -= 1
      return trace === undefined
        ? decision
        : { ...decision, sip: ladderOf(trace, reader === 'operator') }
    })
    .toReversed()
}

/** The addresses of the installation's carriers are not for its tenants. */
const decisionOfTry = (each: StoredTry, reader: Reader): StoredDecision => {
  const where =
    reader === 'operator'
      ? `${each.trunk} at ${each.gateway}`
      : `gateway ${each.position} of the attempt`
  const what =
    reader === 'operator' || each.sip_status !== null ? each.reason : 'It could not be reached.'
  return {
    at: utc(each.at),
    decision: 'tried',
    reason: `Attempt ${each.attempt}, ${where}, ${each.seconds} s: ${what}`,
  }
}

/** PostgreSQL writes instants into JSON with its own offset. */
const utc = (instant: string): string => formatDateTime(new Date(instant))

/**
 * The first reason that applies, because the dispatcher does not check later ones either. All that a live
 * organization lacks is reported at once.
 */
const reasonsOf = (row: ExplainRow, reader: Reader): readonly ExplanationReason[] => {
  if (row.status !== 'queued') return []
  if (row.is_claimed) return [{ code: 'next', message: 'It is about to be dialled.' }]
  if (row.dispatchers === 0) return [noDispatcher(row.draining)]
  const missing = missingOf(row)
  if (missing.some(({ code }) => code === 'no_trunk')) return missing
  if (row.servers === 0) return missing.length > 0 ? missing : [noServer]
  return [
    closedLane(row) ??
      trunkDown(row) ??
      numberInUse(row, reader) ??
      ownTime(row) ??
      fullCapacity(row) ??
      itsTurn(row),
  ]
}

const noServer: ExplanationReason = {
  code: 'node_draining',
  message: 'No dispatcher that serves its route is running.',
}

/** What its organization lacks to be dialled at all. */
const missingOf = ({ lacks, trunks, numbers, is_live: isLive }: ExplainRow): ExplanationReason[] =>
  (['no_trunk', 'no_caller_id'] as const)
    .filter((lack) => isLive && lacks.includes(lack))
    .filter((lack) => (lack === 'no_trunk' ? trunks : numbers) === 0)
    .map((code) => ({ code, message: lackSentences[code] }))

const noDispatcher = (draining: number): ExplanationReason => ({
  code: 'node_draining',
  message:
    draining > 0 ? 'The installation is stopping and dials no call.' : 'No dispatcher is running.',
})

const paused = (kind: LaneKind): ExplanationReason => ({
  code: kind === 'automation' ? 'automation_paused' : 'batch_paused',
  message: pausedSentence(kind),
})

/** All calls of the route wait; the trunk is probed with OPTIONS meanwhile, and may be back sooner. */
const trunkDown = ({
  down_cause: cause,
  down_reason: reason,
  retry_at: retryAt,
}: ExplainRow): ExplanationReason | undefined =>
  reason === null
    ? undefined
    : cause === 'none'
      ? { code: 'no_trunk', message: lackSentences.no_trunk }
      : {
          code: 'trunk_down',
          message: `The trunk cannot be used: ${reason} Its calls wait until it can; see ./outdial doctor.`,
          ...(retryAt && { until: formatDateTime(retryAt) }),
        }

const closedLane = (row: ExplainRow): ExplanationReason | undefined => {
  if (row.is_paused) return paused(row.lane_kind)
  if (row.is_open) return undefined
  if (!row.is_opening_known) {
    return { code: 'calling_hours', message: 'Its calling hours are being worked out.' }
  }
  const window =
    row.window_time_zone === null
      ? ''
      : `, narrowed by its batch’s window in ${row.window_time_zone}`
  const { names, zones } = policyZonesOf(row)
  const where = `${names}${window}`
  if (!row.opens_at) {
    return { code: 'calling_hours', message: `No calling hours are within sight in ${where}.` }
  }
  return {
    code: 'calling_hours',
    message: `It is outside the calling hours in ${where}${holidayBetween(
      policyOfJson(row.policy).holidays,
      zones,
      row.now.getTime(),
      row.opens_at.getTime(),
    )}.`,
    until: formatDateTime(row.opens_at),
  }
}

/** The zones in which dispatch judges the policy: the number's, or without usable ones the organization's. */
const policyZonesOf = ({ policy, time_zones }: ExplainRow) => {
  const ofNumber = zonesOfText(time_zones)
  const zones = calleeZones(policyOfJson(policy), ofNumber)
  const names = zones === ofNumber ? zones.join(', ') : 'the organization’s time zone'
  return { names, zones }
}

/** Without an instant: it continues when the other call has ended. */
const numberInUse = (row: ExplainRow, reader: Reader): ExplanationReason | undefined => {
  const { number_holder_id: holder, number_holder_origin: origin } = row
  if (holder === null || !(row.is_due || row.wait_reason === 'number_in_use')) return undefined
  if (reader === 'api' && origin !== 'api') return ownWaits.number_in_use
  return {
    code: 'number_in_use',
    message: `Call ${holder} to this number is live; this one goes on when that one has ended.`,
    details: { call_id: holder },
  }
}

const ownTime = (row: ExplainRow): ExplanationReason | undefined => {
  if (row.is_due) return undefined
  const until = row.not_before && formatDateTime(row.not_before)
  const reason =
    row.wait_reason === 'carrier_congestion'
      ? ownCongestion(row)
      : ownWaits[row.wait_reason ?? 'not_sent']
  return { ...reason, ...(until !== null && { until }) }
}

const fullCapacity = (row: ExplainRow): ExplanationReason | undefined => {
  if (row.live_calls >= row.concurrency) {
    return {
      code: 'capacity',
      message: `The organization has ${callsLive(row.live_calls)} and may have ${row.concurrency}.`,
      details: {
        limit: 'organization_concurrency',
        live_calls: row.live_calls,
        allowed_calls: row.concurrency,
      },
    }
  }
  // Trunk and nodes are shared: the usage of others stays private.
  if (row.channels !== null && row.live_channels >= row.channels) {
    const message = takenSentence(row.channels, 'the trunk')
    return { code: 'capacity', message, details: { limit: 'trunk_channels' } }
  }
  if (row.live_on_nodes >= row.node_channels) {
    const holders = row.servers === 1 ? 'the node' : `the ${row.servers} nodes`
    const message = takenSentence(row.node_channels, holders)
    return { code: 'capacity', message, details: { limit: 'node_channels' } }
  }
  if (row.tokens >= 1) return undefined
  const message = `The trunk takes ${row.calls_per_second} calls per second.`
  return pacedTrunk(row) ?? { code: 'capacity', message, details: { limit: 'calls_per_second' } }
}

const takenSentence = (channels: number, holders: string): string =>
  channels === 1
    ? `The one channel of ${holders} is taken.`
    : `All ${channels} channels of ${holders} are taken.`

const callsLive = (count: number): string => `${count} ${count === 1 ? 'call' : 'calls'} live`

const itsTurn = ({ ahead }: ExplainRow): ExplanationReason => ({
  code: 'next',
  message: aheadSentence(ahead),
})

const aheadSentence = (ahead: number): string => {
  if (ahead === 0) return 'It is the next of its lane.'
  if (ahead === 1) return '1 call of its lane comes first.'
  return `${ahead === maxAhead ? `At least ${maxAhead}` : ahead} calls of its lane come first.`
}
