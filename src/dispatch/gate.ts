import type { OrganizationId } from '../contract/organization-id.ts'
import type { Database, Queryable, Transaction } from '../database/database.ts'
import { sqlStateOf } from '../database/errors.ts'
import type { AgentDefinition } from '../domains/agents/agent-definition.ts'
import { enterBatch } from '../domains/batches/enter-batch.ts'
import type { EndedCall } from '../domains/calls/lifecycle/ended-call.ts'
import type { EndCall } from '../domains/calls/lifecycle/end-call.ts'
import { endHeld, type CallResult } from '../domains/calls/lifecycle/end-held-call.ts'
import type { CallFence } from '../domains/calls/lifecycle/call-fence.ts'
import { holidayBetween } from '../calling-hours/holidays.ts'
import { calleeZones, dayOfCallee } from '../calling-hours/openings.ts'
import { zonesOfText } from '../domains/calls/lane-store.ts'
import { lackSentences } from '../domains/calls/lack-sentences.ts'
import { pausedSentence } from '../domains/calls/paused-sentence.ts'
import { policyOfJson, type CallingPolicy } from '../domains/organizations/calling-policy.ts'
import {
  describeDestinationProblem,
  destinationProblem,
} from '../domains/organizations/phone-destination.ts'
import { countAttempts, loadForGate, type GateRow } from './gate-store.ts'
import { releaseClaim, type Release } from '../domains/calls/lifecycle/release-claim.ts'
import { markDialing, maxCallDurationMs } from '../domains/calls/lifecycle/mark-dialing.ts'

export type GateOutcome =
  /** `dialing` is committed: dial now. */
  | { readonly kind: 'dial'; readonly row: GateRow; readonly attempt: number }
  /** Back in the queue, with the reason. */
  | { readonly kind: 'wait'; readonly reason: string }
  /** It must never be dialled. */
  | { readonly kind: 'ended'; readonly ended: EndedCall }
  /** Cancelled, rescued or taken meanwhile. */
  | { readonly kind: 'lost' }

type Verdict =
  | { readonly kind: 'dial'; readonly reason: string }
  | ({ readonly kind: 'wait' } & Release)
  | ({ readonly kind: 'end' } & CallResult)

/**
 * The one place that decides, right before dialling, whether a claimed call may be dialled: everything that was
 * true at its acceptance is judged again. The decision, its reason and the new state commit together.
 */
export const passGate = async (
  db: Database,
  fence: CallFence,
  endCall: EndCall,
  { onAdmitted = () => {}, hasLiveEngine = () => true }: GateHooks = {},
): Promise<GateOutcome> => {
  const hooks = { onAdmitted, hasLiveEngine }
  try {
    return await db.transaction((tx) => decide(tx, fence, endCall, hooks))
  } catch (error) {
    if (isNumberInUse(error)) return wait(db, fence, numberInUse)
    if (!(error instanceof NotDialled)) throw error
    return wait(db, fence, { reason: error.message })
  }
}

interface GateHooks {
  /** The call may be dialled if the commit succeeds, which is likely: the preparation can begin. Must not throw. */
  readonly onAdmitted?: (row: GateRow) => void
  readonly hasLiveEngine?: HasLiveEngine
}

/**
 * Whether this node can hold a live organization's conversation for an agent with this engine, or with none of its
 * own.
 */
export type HasLiveEngine = (
  engine: AgentDefinition['engine'],
  organizationId: OrganizationId,
) => boolean

const decide = async (
  tx: Transaction,
  fence: CallFence,
  endCall: EndCall,
  { onAdmitted, hasLiveEngine }: Required<GateHooks>,
): Promise<GateOutcome> => {
  const row = await loadForGate(tx, fence)
  if (!row) return { kind: 'lost' }
  const verdict = await judge(tx, fence, row, hasLiveEngine)
  switch (verdict.kind) {
    case 'dial':
      onAdmitted(row)
      return dial(tx, fence, row, verdict.reason)
    case 'wait':
      return wait(tx, fence, verdict)
    case 'end':
      return end(tx, fence, verdict, endCall)
  }
}

const wait = async (db: Queryable, fence: CallFence, release: Release): Promise<GateOutcome> =>
  (await releaseClaim(db, fence, release))
    ? { kind: 'wait', reason: release.reason }
    : { kind: 'lost' }

const uniqueViolation = '23505'

/** Claims skip calls whose number is in use; this is the second protection. */
const isNumberInUse = (error: unknown): boolean =>
  sqlStateOf(error) === uniqueViolation &&
  (error as { constraint?: string }).constraint === 'calls_number_held'

const numberInUse: Release = {
  reason: 'Another call of the organization is live with this number.',
}

/**
 * The race for the call, or for its batch, was lost at the last moment: `dialing` is rolled back. Contains the
 * reason.
 */
class NotDialled extends Error {}

/** The lane closed or the lease ended since the gate's check: the call must not stay leased without a holder. */
const missedReason =
  'Its lane was closed, its node was in doubt, or its contact was erased at the moment of dialling.'

const dial = async (
  tx: Transaction,
  fence: CallFence,
  row: GateRow,
  reason: string,
): Promise<GateOutcome> => {
  const durationMs =
    row.max_duration_seconds === null ? maxCallDurationMs : row.max_duration_seconds * 1000
  const [attempt, isDialling] = await Promise.all([
    markDialing(tx, fence, reason, durationMs),
    row.batch_id === null || enterBatch(tx, fence.organizationId, row.batch_id),
  ])
  if (attempt === undefined) throw new NotDialled(missedReason)
  // A pause was committed after the call's lane was checked.
  if (!isDialling) throw new NotDialled(pausedSentence('batch'))
  return { kind: 'dial', row, attempt }
}

const end = async (
  tx: Transaction,
  fence: CallFence,
  result: CallResult,
  endCall: EndCall,
): Promise<GateOutcome> => {
  const [ended] = await endCall(tx, endHeld(fence, result))
  return ended ? { kind: 'ended', ended } : { kind: 'lost' }
}

const judge = async (
  tx: Transaction,
  fence: CallFence,
  row: GateRow,
  hasLiveEngine: HasLiveEngine,
): Promise<Verdict> => {
  const policy = policyOfJson(row.policy)
  return (
    refusal(row, policy) ??
    noEngine(row, fence.organizationId, hasLiveEngine) ??
    closedHours(row, policy) ??
    (await tooManyAttempts(tx, fence, row, policy)) ?? {
      kind: 'dial',
      reason: permission(row, policy),
    }
  )
}

/** Reasons that time does not remove. */
const refusal = (row: GateRow, policy: CallingPolicy): Verdict | undefined => {
  if (row.is_cancel_requested) return { kind: 'end', status: 'cancelled' }
  if (!row.is_contact_known) return failed('The contact no longer exists.')
  if (row.is_on_do_not_call_list) return failed('The number is on the do-not-call list.')
  if (!row.is_agent_eligible) return failed('The agent is no longer published.')
  const problem = destinationProblem(row.phone_number, policy)
  return problem && failed(describeDestinationProblem(problem))
}

const failed = (outcomeReason: string): Verdict => ({
  kind: 'end',
  status: 'failed',
  answerStatus: 'unknown',
  outcome: 'not_reached',
  outcomeReason,
})

/** It waits for a setting, not for a time: the next start releases it (`wakeEnginelessCalls`). */
const noEngine = (
  row: GateRow,
  organizationId: OrganizationId,
  hasLiveEngine: HasLiveEngine,
): Verdict | undefined =>
  row.mode === 'sandbox' || hasLiveEngine(row.engine ?? undefined, organizationId)
    ? undefined
    : { kind: 'wait', reason: lackSentences.no_engine, waitReason: 'no_engine' }

/** The lane closed, or was paused, between claim and gate. It wakes the call when it opens again. */
const closedHours = (row: GateRow, policy: CallingPolicy): Verdict | undefined => {
  if (row.is_lane_paused) return { kind: 'wait', reason: pausedSentence(row.lane_kind) }
  if (row.is_lane_open) return undefined
  const zones = zonesOf(row, policy)
  const nowMs = row.now.getTime()
  const untilMs = row.opens_at?.getTime() ?? nowMs
  return {
    kind: 'wait',
    reason: `It is outside the calling hours in ${zones.join(', ')}${holidayBetween(policy.holidays, zones, nowMs, untilMs)}.`,
    ...(row.opens_at && row.opens_at > row.now && { until: row.opens_at }),
  }
}

const zonesOf = (row: GateRow, policy: CallingPolicy): readonly string[] =>
  calleeZones(policy, zonesOfText(row.time_zones))

const tooManyAttempts = async (
  tx: Transaction,
  fence: CallFence,
  row: GateRow,
  policy: CallingPolicy,
): Promise<Verdict | undefined> => {
  const limit = policy.attemptsPerNumberPerDay
  if (limit === undefined) return undefined
  const day = dayOfCallee(zonesOf(row, policy), row.now.getTime())
  const attempts = await countAttempts(
    tx,
    fence.organizationId,
    row.phone_number,
    new Date(day.startMs),
  )
  if (attempts < limit) return undefined
  return {
    kind: 'wait',
    reason: `The number was dialled ${attempts} times on this day of the callee; the policy allows ${limit}.`,
    until: new Date(day.endMs),
    waitReason: 'attempts_per_day',
  }
}

const permission = (row: GateRow, policy: CallingPolicy): string => {
  const zones = zonesOf(row, policy).join(', ')
  const closes = row.closes_at ? ` until ${row.closes_at.toISOString()}` : ''
  const shown =
    row.caller_id === null || row.mode === 'sandbox' ? '' : ` It shows ${row.caller_id}.`
  return `Calling hours are open in ${zones}${closes}; the policy and the do-not-call list allow it.${shown}`
}
