import type { Database, Transaction } from '../../database/database.ts'
import { isTerminal } from '../../domains/calls/lifecycle/call-states.ts'
import { findCall } from '../../domains/calls/call-store.ts'
import { insertRecording, recordingStatus } from '../../domains/recordings/recording-store.ts'
import type { CallKey } from '../../domains/results/transcript-store.ts'
import { claimEncoding, enqueueEncoding } from './follow-up-jobs.ts'

export type Adoption = 'adopted' | 'kept' | 'done' | 'unknown'

/**
 * Decides on a spool here without a recorder: an ended call without a recording gets one, with its encoding job; a
 * job for a node of another name moves to this node. Two simultaneous sweeps are harmless, because recording and
 * job are unique per call.
 */
export const adoptCall = (
  database: Database,
  call: CallKey,
  encodingTask: string,
): Promise<Adoption> => database.transaction((tx) => adopt(tx, call, encodingTask))

const adopt = async (tx: Transaction, call: CallKey, encodingTask: string): Promise<Adoption> => {
  const [row, recording] = await Promise.all([
    findCall(tx, call.organizationId, call.callId),
    recordingStatus(tx, call),
  ])
  if (row === undefined) return 'unknown'
  if (recording === 'encoding')
    return (await claimEncoding(tx, call, encodingTask)) ? 'adopted' : 'kept'
  if (recording !== undefined) return 'done'
  if (!isTerminal(row.status)) return 'kept'
  const recordedAt = row.connected_at ?? row.ended_at ?? row.created_at
  await insertRecording(tx, {
    ...call,
    contactId: row.contact_id,
    origin: row.origin,
    recordedAt,
  })
  await enqueueEncoding(tx, call, encodingTask)
  return 'adopted'
}
