import { notFound } from '../../contract/api-error.ts'
import { callResource } from '../../domains/calls/call-record.ts'
import { findPlacedCall } from '../../domains/calls/call-store.ts'
import { callsChannel, queueCall } from '../../domains/calls/queue-call.ts'
import { asTold, note, type ConsoleHandler } from '../console-handler.ts'

/** A new call of the same agent to the same contact; the API shows only its recording (D3). */
export const callAgain: ConsoleHandler<'callAgain'> = async ({ params }, context) => {
  const { db, organizationId } = context
  const earlier = await findPlacedCall(db, organizationId, params.call_id)
  if (!earlier) throw notFound()
  const row = await queueCall(db, organizationId, {
    agentId: earlier.agent_id,
    contactId: earlier.contact_id,
    origin: 'dashboard',
  })
  db.hintAfterCommit(callsChannel)
  await note(db, context, {
    action: 'call.again',
    target: { type: 'call', id: row.id },
    after: { earlier_call_id: earlier.id, agent_id: row.agent_id, contact_id: row.contact_id },
  })
  return callResource(row)
}

/** Makes a call's summary and transcript anew where every try was used up (D7). */
export const reprocessCall: ConsoleHandler<'reprocessCall'> = async ({ params }, context) => {
  const { db, organizationId, parts } = context
  const row = await findPlacedCall(db, organizationId, params.call_id)
  if (!row) throw notFound()
  await asTold(parts.reprocessCall(db, { organizationId, callId: row.id }))
  await note(db, context, {
    action: 'call.reprocess',
    target: { type: 'call', id: row.id },
    before: { results: 'exhausted' },
    after: { results: 'processing' },
  })
  return callResource(row)
}
