import { formatDateTime } from '../../../contract/date-time.ts'
import type { BatchForecast, ForecastHours } from '../../../contract/console/forecasts.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'
import type { Queryable } from '../../../database/database.ts'
import { zonesOfText } from '../../calls/lane-store.ts'
import { policyOfJson, type CallingPolicy } from '../../organizations/calling-policy.ts'
import { destinationProblem } from '../../organizations/phone-destination.ts'
import type { BatchRow } from '../batch-resource.ts'
import {
  findCapacity,
  listDialled,
  listForecastRecipients,
  listHeldLines,
  listOtherCalls,
  listSamples,
  maxOtherCalls,
  type CapacityRow,
  type RecipientRow,
  type WaitingRow,
} from './forecast-store.ts'
import { loadForecastNumbers, type ForecastNumbers } from './forecast-numbers.ts'
import { findKeptForecast } from './find-kept-forecast.ts'
import { averageOf, type Average } from './recent-average.ts'
import { simulateInThread } from './simulate-in-thread.ts'
import type { SimulatedLane, SimulatedWork } from './simulate-dispatch.ts'

const dayMs = 24 * 3_600_000

/**
 * When each recipient who has not been called would ring, were the batch started or resumed now; with what was
 * forecast when it began, and what came. `whole`: from its beginning, as if nobody had been called yet.
 */
export const forecastBatch = async (
  db: Queryable,
  organizationId: OrganizationId,
  batch: BatchRow,
  { isWhole = false }: { readonly isWhole?: boolean } = {},
): Promise<BatchForecast> => {
  const [capacity, recipients, others, live, samples, kept] = await Promise.all([
    findCapacity(db, organizationId, batch.agent_id),
    listForecastRecipients(db, organizationId, batch.id),
    listOtherCalls(db, organizationId, batch.id),
    listHeldLines(db, organizationId),
    listSamples(db, organizationId),
    findKeptForecast(db, organizationId, batch.id),
  ])
  if (!capacity) throw new Error('The organization has no route.')
  const policy = policyOfJson(capacity.policy)
  const average = averageOf(samples, batch.agent_id)
  const nowMs = capacity.now.getTime()
  const startMs = isWhole ? beganMs(recipients, nowMs) : startOf(batch, nowMs)
  const never = new Map(
    recipients.flatMap((each) => {
      const reason = neverBecause(each, policy, capacity)
      return reason === undefined ? [] : [[each.id, reason] as const]
    }),
  )
  const waiting = recipients.filter(
    (each) => isWhole || ((each.status === 'pending' || each.status === 'queued') && !each.is_live),
  )
  const rung = waiting.filter(({ id }) => !never.has(id))
  const rows = [
    ...rung.map((row) => ({ ...row, fromMs: isWhole ? startMs : fromMsOf(row, startMs) })),
    ...others.map((row) => ({ ...row, fromMs: row.not_before?.getTime() ?? nowMs })),
  ].toSorted((left, right) => (left.id < right.id ? -1 : 1))
  const limit = policy.attemptsPerNumberPerDay
  const dialled =
    limit === undefined || isWhole
      ? new Map<string, number[]>()
      : await listDialled(
          db,
          organizationId,
          rows.map((row) => row.phone_number),
          new Date(nowMs - 2 * dayMs),
        )
  const numbers = await loadForecastNumbers(db, organizationId, {
    timeZone: policy.timeZone,
    agentIds: new Set(rows.map((row) => row.agent_id)),
    playedAgain: isWhole ? countedOf(recipients) : new Map(),
  })
  const { lines, notes } = linesOf(capacity, others.length)
  const rings = await simulateInThread({
    fromMs: Math.min(nowMs, startMs),
    policy,
    ...lanesOf(rows, numbers),
    ...(numbers && { numbers: numbers.simulated }),
    lines,
    callsPerSecond: capacity.refill_per_second,
    burst: Math.max(1, capacity.burst),
    lineMs: average.lineMs,
    live: live
      .filter(({ batch_id: of }) => !isWhole || of !== batch.id)
      .map(({ phone_number: number, dialing_at: at }) => ({
        number,
        endsMs: Math.max(nowMs, (at?.getTime() ?? nowMs) + average.lineMs),
      })),
    dialled,
  })
  const isOwn = new Set(rung.map(({ id }) => id))
  const instants = rows.flatMap(({ id }, index) =>
    isOwn.has(id) ? [{ id, atMs: rings[index] ?? Number.NaN }] : [],
  )
  return {
    batch_id: batch.id,
    made_at: formatDateTime(capacity.now),
    starts_at: formatDateTime(new Date(Math.max(startMs, isWhole ? startMs : nowMs))),
    ...spanOf(
      instants.map(({ atMs }) => atMs),
      average,
    ),
    waiting: waiting.length,
    expected_answers: Math.round(
      instants.filter(({ atMs }) => !Number.isNaN(atMs)).length * average.answerRate,
    ),
    basis: {
      source: average.source,
      calls: average.calls,
      line_seconds: Math.round(average.lineMs / 1000),
      answer_rate: Math.round(average.answerRate * 100) / 100,
    },
    lines,
    calls_per_second: Math.round(capacity.refill_per_second * 100) / 100,
    other_calls: others.length,
    notes,
    recipients: recipientsOf(waiting, never, instants),
    ...(kept && { at_start: kept }),
    fact: factOf(recipients),
  }
}

const startOf = ({ scheduled_start_at: scheduled, status }: BatchRow, nowMs: number): number =>
  status === 'draft' || status === 'scheduled'
    ? Math.max(nowMs, scheduled?.getTime() ?? nowMs)
    : nowMs

const beganMs = (recipients: readonly RecipientRow[], nowMs: number): number =>
  recipients.reduce(
    (first, row) =>
      Math.min(first, row.dialing_at?.getTime() ?? row.not_before?.getTime() ?? nowMs),
    nowMs,
  )

/** How many recipients were shown each number. */
const countedOf = (recipients: readonly RecipientRow[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { counted_number: number } of recipients)
    if (number !== null) counts.set(number, (counts.get(number) ?? 0) + 1)
  return counts
}

/** A queued call may have its own time, after congestion or at the limit of its day. */
const fromMsOf = ({ status, not_before: notBefore }: RecipientRow, startMs: number): number =>
  status === 'queued' ? Math.max(startMs, notBefore?.getTime() ?? startMs) : startMs

const neverBecause = (
  row: RecipientRow,
  policy: CallingPolicy,
  { is_agent_eligible: isEligible }: CapacityRow,
): string | undefined => {
  if (!isEligible) return 'agent_unavailable'
  if (!row.is_contact_known) return 'contact_unavailable'
  if (row.is_on_do_not_call_list) return 'do_not_call_list'
  return destinationProblem(row.phone_number, policy) && 'unsupported_destination'
}

/** Calls at one time, and what had to be assumed. */
const linesOf = (row: CapacityRow, others: number) => {
  const notes: string[] = []
  if (row.is_down) notes.push('The trunk cannot be used now; this is as if it could.')
  if (row.node_channels === 0)
    notes.push('No dispatcher serves its route now; this is as if one did.')
  if (others === maxOtherCalls)
    notes.push(`Of the other calls that wait only the first ${maxOtherCalls} are counted.`)
  if (row.live_of_others > 0)
    notes.push('Lines that other organizations use now are counted as taken.')
  if (row.node_channels === 0) return { lines: row.concurrency, notes }
  const shared = Math.min(row.channels ?? row.node_channels, row.node_channels)
  return { lines: Math.max(1, Math.min(row.concurrency, shared - row.live_of_others)), notes }
}

type Row = WaitingRow & { readonly fromMs: number }

const lanesOf = (
  rows: readonly Row[],
  numbers: ForecastNumbers | undefined,
): Pick<SimulatedWork, 'lanes' | 'calls'> => {
  const indexes = new Map<string, number>()
  const lanes: SimulatedLane[] = []
  const calls = rows.map((row) => {
    const pool = numbers?.poolOf(row.agent_id)
    const key = `${row.source_id}/${row.rank}/${row.time_zones}/${pool ?? ''}`
    let lane = indexes.get(key)
    if (lane === undefined) {
      lane = lanes.length
      indexes.set(key, lane)
      lanes.push({
        timeZones: zonesOfText(row.time_zones),
        source: `${row.source_id}/${row.rank}`,
        rank: row.rank,
        ...(pool !== undefined && { pool }),
        ...(row.calling_window && { callingWindow: row.calling_window }),
      })
    }
    return { lane, number: row.phone_number, notBeforeMs: row.fromMs }
  })
  return { lanes, calls }
}

const recipientsOf = (
  waiting: readonly RecipientRow[],
  never: ReadonlyMap<string, string>,
  instants: readonly { readonly id: string; readonly atMs: number }[],
): BatchForecast['recipients'] => {
  const byId = new Map(instants.map(({ id, atMs }) => [id, atMs]))
  return waiting.map(({ id }) => {
    const atMs = byId.get(id)
    return atMs === undefined || Number.isNaN(atMs)
      ? { call_id: id, never: never.get(id) ?? 'calling_hours' }
      : { call_id: id, rings_at: formatDateTime(new Date(atMs)) }
  })
}

const spanOf = (instants: readonly number[], { lineMs }: Average) => {
  const known = instants.filter((atMs) => !Number.isNaN(atMs))
  const [firstMs, lastMs] = known.reduce(
    ([first, last], atMs) => [Math.min(first, atMs), Math.max(last, atMs)] as const,
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as readonly [number, number],
  )
  return {
    ...(known.length > 0 && {
      first_ring_at: formatDateTime(new Date(firstMs)),
      last_ring_at: formatDateTime(new Date(lastMs)),
      ends_at: formatDateTime(new Date(lastMs + lineMs)),
    }),
    will_ring: known.length,
    hours: hoursOf(known),
  }
}

const hourMs = 3_600_000

/** Rings in each hour that has any, in order. */
const hoursOf = (instants: readonly number[]): ForecastHours => {
  const hours = new Map<number, number>()
  for (const atMs of instants) {
    const hour = Math.floor(atMs / hourMs)
    hours.set(hour, (hours.get(hour) ?? 0) + 1)
  }
  return [...hours]
    .toSorted(([left], [right]) => left - right)
    .map(([hour, rings]) => ({ hour: formatDateTime(new Date(hour * hourMs)), rings }))
}

const factOf = (recipients: readonly RecipientRow[]): BatchForecast['fact'] => {
  const dialled = recipients.flatMap(({ dialing_at: at }) => (at ? [at.getTime()] : []))
  const ended = recipients.flatMap(({ ended_at: at, dialing_at: dialledAt }) =>
    at && dialledAt ? [at.getTime()] : [],
  )
  return {
    rung: dialled.length,
    ...(dialled.length > 0 && {
      first_ring_at: formatDateTime(new Date(Math.min(...dialled))),
      last_ring_at: formatDateTime(new Date(Math.max(...dialled))),
    }),
    ...(ended.length > 0 && { last_end_at: formatDateTime(new Date(Math.max(...ended))) }),
    hours: hoursOf(dialled),
  }
}
