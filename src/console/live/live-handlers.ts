import { ApiError, notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import {
  listLiveCalls as readLiveCalls,
  maxLiveCalls,
  type LiveCallRow,
} from '../../domains/calls/live-calls-store.ts'
import { findCall } from '../../domains/calls/call-store.ts'
import { note, sessionOf, type ConsoleHandler } from '../console-handler.ts'

export const listLiveCalls: ConsoleHandler<'listLiveCalls'> = async (_input, context) => {
  const { db, organizationId, parts } = context
  const rows = await readLiveCalls(db, organizationId)
  const showsNode = sessionOf(context).administersInstallation
  const data = rows.map((row) => ({
    ...resourceOf(row),
    is_here: parts.live.isHere({ organizationId, callId: row.id }),
    ...(showsNode && row.node_name !== null && { node: row.node_name }),
  }))
  return { data, is_cut: rows.length === maxLiveCalls }
}

const resourceOf = (row: LiveCallRow) => ({
  id: row.id,
  status: row.status,
  contact_id: row.contact_id,
  agent_id: row.agent_id,
  is_ending: row.is_ending,
  ...(row.contact_name !== null && { contact_name: row.contact_name }),
  ...(row.phone_number !== null && { phone_number: row.phone_number }),
  ...(row.agent_name !== null && { agent_name: row.agent_name }),
  ...(row.dialing_at && { dialing_at: formatDateTime(row.dialing_at) }),
  ...(row.connected_at && { connected_at: formatDateTime(row.connected_at) }),
  ...(row.sequence !== null && {
    last: { sequence: row.sequence, speaker: row.speaker ?? '', text: row.text ?? '' },
  }),
})

/** A ticket for the sound of a call; who listened stands in the audit log. */
export const listenToCall: ConsoleHandler<'listenToCall'> = async ({ params }, context) => {
  const { db, organizationId, parts } = context
  const call = { organizationId, callId: params.call_id }
  const row = await findCall(db, organizationId, call.callId)
  if (!row) throw notFound()
  if (row.status !== 'in_progress')
    throw new ApiError('resource_state_conflict', 'Only a call that is held now can be heard.')
  if (!parts.live.isHere(call))
    throw new ApiError(
      'resource_state_conflict',
      'Another node carries this call: it can be heard in the dashboard of that node.',
    )
  await note(db, context, { action: 'call.listen', target: { type: 'call', id: row.id } })
  return { ticket: parts.tickets.issue(sessionOf(context), { kind: 'listen', call }) }
}
