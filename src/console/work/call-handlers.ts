import { notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { newestOf } from '../../database/newest-first.ts'
import { listCallParties } from '../../domains/calls/call-parties.ts'
import { callResource, type CallRow } from '../../domains/calls/call-record.ts'
import { cancelCallById } from '../../domains/calls/cancel-call.ts'
import { findPlacedCall, listApiCalls, listOwnCalls } from '../../domains/calls/call-store.ts'
import { explainCall, type CallExplanation } from '../../domains/calls/explain-call.ts'
import { waitReasonsOf } from '../../domains/calls/explain-store.ts'
import { titleOf } from '../../domains/calls/sip-ladder.ts'
import { listSipTraces } from '../../domains/calls/sip-trace-store.ts'
import { readOverview } from '../../domains/calls/overview-store.ts'
import { placeManualCall } from '../../domains/calls/place-manual-call.ts'
import { findRecordingDetails } from '../../domains/recordings/recording-details.ts'
import { listResultHeads } from '../../domains/results/result-heads.ts'
import { listTurns } from '../../domains/results/transcript-store.ts'
import { listQuality } from '../../domains/results/quality-store.ts'
import { listTurnLatencies, listUsage } from '../../domains/results/usage-store.ts'
import { findMaker } from '../../domains/requests/request-store.ts'
import { requestOf } from '../requests/request-handlers.ts'
import { isUuid } from '../../runtime/ids.ts'
import { note, sessionOf, type ConsoleHandler } from '../console-handler.ts'

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
export const getCall: ConsoleHandler<'getCall'> = async (
  { params },
  { db, organizationId, parts },
) => {
  const { call_id: callId } = params
  const key = { organizationId, callId }
  const row = await findPlacedCall(db, organizationId, callId)
  const explanation = row && (await explainCall(db, organizationId, callId))
  if (!row || !explanation) throw notFound()
  parts.showToFollowers(organizationId, 'call', row.id)
  const makers = [callId, row.batch_id, row.automation_run_id].filter((id) => id !== null)
  const [maker, parties, results, recording, turns, usage, latencies, quality] = await Promise.all([
    findMaker(db, organizationId, makers),
    listCallParties(db, organizationId, [callId]),
    listResultHeads(db, key),
    findRecordingDetails(db, key),
    listTurns(db, key),
    listUsage(db, key),
    listTurnLatencies(db, key),
    listQuality(db, key),
  ])
  return {
    ...callResource(row),
    ...parties.get(callId),
    ...(maker && { made_by: requestOf(maker) }),
    origin: row.origin,
    ...(row.status === 'in_progress' && { is_here: parts.live.isHere(key) }),
    reasons: [...explanation.reasons],
    decisions: explanation.decisions.map(withoutMessages),
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
    quality: quality.map((each) => ({ ...each })),
  }
}

/** The page of a call reads its SIP messages by themselves. */
const withoutMessages = ({
  at,
  decision,
  reason,
  until,
}: CallExplanation['decisions'][number]) => ({
  at,
  decision,
  ...(reason !== undefined && { reason }),
  ...(until !== undefined && { until }),
})

/** What was said to the trunk, and what it replied; who runs the installation sees where, and the whole texts. */
export const getCallTrace: ConsoleHandler<'getCallTrace'> = async ({ params }, context) => {
  const { db, organizationId } = context
  const { call_id: callId } = params
  const row = await findPlacedCall(db, organizationId, callId)
  if (!row) throw notFound()
  const traces = await listSipTraces(db, organizationId, callId)
  const seesHosts = sessionOf(context).administersInstallation
  return {
    attempts: traces.map(({ attempt, first, last, omitted }) => ({
      attempt,
      messages: [...first, ...last].map(({ text, local, remote, ...message }) => ({
        ...message,
        title: titleOf(text, seesHosts),
        ...(seesHosts && { local, remote, message: text }),
      })),
      omitted,
    })),
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
  const before = await findPlacedCall(db, organizationId, params.call_id)
  if (!before) throw notFound()
  await cancelCallById(db, parts.endCall, organizationId, params.call_id, undefined)
  const row = (await findPlacedCall(db, organizationId, params.call_id)) ?? before
  await note(db, context, {
    action: 'call.cancel',
    target: { type: 'call', id: row.id },
    before: { status: before.status },
    after: { status: row.status },
  })
  return callResource(row)
}
