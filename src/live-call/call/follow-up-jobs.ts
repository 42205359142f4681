import type { Transaction } from '../../database/database.ts'
import type { CallKey } from '../../domains/results/transcript-store.ts'
import { claimJob, enqueueJob, type Job } from '../../jobs/enqueue-job.ts'
import type { RequestedHangUp } from '../media/media-protocol.ts'

/** Jobs after a call, enqueued inside the transaction that causes them. */

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
  readonly hang_up_reason?: RequestedHangUp
}

/** `task` names the node that has the spool, where there are several. */
export const enqueueEncoding = (tx: Transaction, call: CallKey, task: string): Promise<void> =>
  enqueueJob(tx, encodingJob(call, task))

/**
 * Has the encoding of a spool that lies here done here, whichever node it was meant for: the machine has another name
 * since, or the data folder another place. False where it is meant for this node already, or is being done.
 */
export const claimEncoding = (tx: Transaction, call: CallKey, task: string): Promise<boolean> =>
  claimJob(tx, encodingJob(call, task))

export const enqueueSummary = (
  tx: Transaction,
  call: CallKey,
  hangUpReason: RequestedHangUp | undefined,
): Promise<void> => {
  const payload: CallJob = {
    ...payloadOf(call),
    ...(hangUpReason !== undefined && { hang_up_reason: hangUpReason }),
  }
  const key = keyOf(summaryTask, call)
  return enqueueJob(tx, { task: summaryTask, key, payload, maxAttempts: maxSummaryAttempts })
}

const encodingJob = (call: CallKey, task: string): Job => ({
  task,
  key: keyOf(encodingTask, call),
  payload: payloadOf(call),
  maxAttempts: maxEncodingAttempts,
})

const payloadOf = ({ organizationId, callId }: CallKey): CallJob => ({
  organization_id: organizationId,
  call_id: callId,
})

// One job per call and kind, however often its cause is repeated.
const keyOf = (kind: string, { callId }: CallKey): string => `${kind}:${callId}`
