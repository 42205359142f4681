import { notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { newestOf } from '../../database/newest-first.ts'
import { listCallParties } from '../../domains/calls/call-parties.ts'
import { callResource, type CallRow } from '../../domains/calls/call-record.ts'
import { cancelCallById } from '../../domains/calls/cancel-call.ts'
import { findCall, listApiCalls, listOwnCalls } from '../../domains/calls/call-store.ts'
import { explainCall } from '../../domains/calls/explain-call.ts'
import { waitReasonsOf } from '../../domains/calls/explain-store.ts'
import { readOverview } from '../../domains/calls/overview-store.ts'
import { placeManualCall } from '../../domains/calls/place-manual-call.ts'
import { findRecordingDetails } from '../../domains/recordings/recording-details.ts'
import { listResultHeads } from '../../domains/results/result-heads.ts'
import { listTurns } from '../../domains/results/transcript-store.ts'
import { listTurnLatencies, listUsage } from '../../domains/results/usage-store.ts'
import { isUuid } from '../../runtime/ids.ts'
import { note, type ConsoleHandler } from '../console-handler.ts'

export const getOverview: ConsoleHandler<'getOverview'> = async (
  _input,
  { db, organizationId },
) => {
  const row = await readOverview(db, organizationId)
  if (!row) throw notFound()
  const { oldest_queued_at: oldest, ...figures } = row
  return {
    ...figures,
    by_hour: [...figures.by_hour],
    oldest_queued_at: oldest && formatDateTime(oldest),
  }
}

/** Two indexes hold the API's calls and the others. */
const listEveryCall = newestOf<CallRow, 'status' | 'contact_id' | 'agent_id' | 'batch_id'>([
  listApiCalls,
  listOwnCalls,
])

export const listCalls: ConsoleHandler<'listCalls'> = async (
  { query: { limit, cursor, ...filters } },
  { db, organizationId },
) => {
  const ids = [filters.contact_id, filters.agent_id, filters.batch_id]
  if (!ids.every((id) => id === undefined || isUuid(id))) return { data: [], next: null }
  const page = await listEveryCall(db, { organizationId, limit, cursor, filters })
  const shown = page.rows.map((row) => row.id)
  const queued = page.rows.filter(({ status }) => status === 'queued').map((row) => row.id)
  const parties = await listCallParties(db, organizationId, shown)
  const reasons = await waitReasonsOf(db, organizationId, queued)
  const data = page.rows.map((row) => {
    const waitsFor = reasons.get(row.id)
    return {
      ...callResource(row),
      ...parties.get(row.id),
      ...(waitsFor !== undefined && { waits_for: waitsFor }),
    }
  })
  return { data, next: page.next }
}

/** A call of any origin, with its words before they were sanitized. */
export const getCall: ConsoleHandler<'getCall'> = async ({ params }, { db, organizationId }) => {
  const { call_id: callId } = params
  const key = { organizationId, callId }
  const row = await findCall(db, organizationId, callId)
  const explanation = row && (await explainCall(db, organizationId, callId))
  if (!row || !explanation) throw notFound()
  const [parties, results, recording, turns, usage, latencies] = await Promise.all([
    listCallParties(db, organizationId, [callId]),
    listResultHeads(db, key),
    findRecordingDetails(db, key),
    listTurns(db, key),
    listUsage(db, key),
    listTurnLatencies(db, key),
  ])
  return {
    ...callResource(row),
    ...parties.get(callId),
    origin: row.origin,
    reasons: [...explanation.reasons],
    decisions: [...explanation.decisions],
    results,
    turns: turns.map(({ sequence, speaker, text, audioOffsetMs }) => ({
      sequence,
      speaker,
      text,
      audio_offset_ms: audioOffsetMs,
    })),
    ...(recording && { recording }),
    usage: usage.map((each) => ({ ...each })),
    latencies: latencies.map((each) => ({ ...each })),
  }
}

/** A manual call: the API shows nothing of it but the recording (D3). */
export const placeCall: ConsoleHandler<'placeCall'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const input = { agentId: body.agent_id, phoneNumber: body.phone_number }
  const row = await placeManualCall(db, organizationId, input)
  await note(db, context, {
    action: 'call.place',
    target: { type: 'call', id: row.id },
    after: { agent_id: row.agent_id, contact_id: row.contact_id },
  })
  return callResource(row)
}

export const cancelCall: ConsoleHandler<'cancelCall'> = async ({ params }, context) => {
  const { db, organizationId, parts } = context
  const before = await findCall(db, organizationId, params.call_id)
  if (!before) throw notFound()
  await cancelCallById(db, parts.endCall, organizationId, params.call_id, undefined)
  const row = (await findCall(db, organizationId, params.call_id)) ?? before
  await note(db, context, {
    action: 'call.cancel',
    target: { type: 'call', id: row.id },
    before: { status: before.status },
    after: { status: row.status },
  })
  return callResource(row)
}
