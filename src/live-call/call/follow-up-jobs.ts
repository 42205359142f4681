import type { Statement, Transaction } from '../../database/database.ts'
import type { CallKey } from '../../domains/results/transcript-store.ts'
import type { HangUpReason } from '../media/media-protocol.ts'

/** Jobs after a call, enqueued inside the transaction that causes them; graphile-worker runs them. */

export const encodingTask = 'encode_recording'
export const summaryTask = 'summarize_call'

/** Retries with growing pauses over about an hour; then the result says so itself. */
const maxSummaryAttempts = 8
/** A full disk may take days to be noticed; the audio waits in its spool. */
const maxEncodingAttempts = 25

export interface CallJob {
  readonly organization_id: string
  readonly call_id: string
  /** For the summary: why we hung up, where we did. */
  readonly hang_up_reason?: HangUpReason
}

// One job per call and task, however often its cause is repeated.
const addJobStatement: Statement = {
  name: 'follow-up-jobs.add',
  text: `select graphile_worker.add_job($1, $2::json, job_key := $3, max_attempts := $4) is not null as added`,
}

/** `task` names the node that has the spool, where there are several. */
export const enqueueEncoding = (tx: Transaction, call: CallKey, task: string): Promise<void> =>
  addJob(tx, encodingTask, task, payloadOf(call), maxEncodingAttempts)

// A job that runs keeps its name: whoever runs it has the spool, or finds out that it has not.
const claimJobStatement: Statement = {
  name: 'follow-up-jobs.claim',
  text: `select graphile_worker.add_job($1, $2::json, job_key := $3, max_attempts := $4) is not null as added
          where not exists (select from graphile_worker.jobs
                             where key = $3 and (task_identifier = $1 or locked_at is not null))`,
}

/**
 * Has the encoding of a spool that lies here done here, whichever node it was meant for: the machine has another name
 * since, or the data folder another place. False where it is meant for this node already, or is being done.
 */
export const claimEncoding = async (
  tx: Transaction,
  call: CallKey,
  task: string,
): Promise<boolean> => {
  const payload = JSON.stringify(payloadOf(call))
  const key = keyOf(encodingTask, call.callId)
  const claimed = await tx.rows(claimJobStatement, [task, payload, key, maxEncodingAttempts])
  return claimed.length > 0
}

export const enqueueSummary = (
  tx: Transaction,
  call: CallKey,
  hangUpReason: HangUpReason | undefined,
): Promise<void> => {
  const payload = {
    ...payloadOf(call),
    ...(hangUpReason !== undefined && { hang_up_reason: hangUpReason }),
  }
  return addJob(tx, summaryTask, summaryTask, payload, maxSummaryAttempts)
}

const payloadOf = ({ organizationId, callId }: CallKey): CallJob => ({
  organization_id: organizationId,
  call_id: callId,
})

const keyOf = (kind: string, callId: string): string => `${kind}:${callId}`

const addJob = async (
  tx: Transaction,
  kind: string,
  task: string,
  payload: CallJob,
  maxAttempts: number,
): Promise<void> => {
  const key = keyOf(kind, payload.call_id)
  await tx.row(addJobStatement, [task, JSON.stringify(payload), key, maxAttempts])
}
