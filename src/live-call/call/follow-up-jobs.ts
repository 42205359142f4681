import type { Transaction } from '../../database/database.ts'
import type { CallKey } from '../../domains/results/transcript-store.ts'
import { claimJob, enqueueJob, type Job } from '../../jobs/enqueue-job.ts'
import type { RequestedHangUp } from '../media/media-protocol.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** Jobs after a call. The transaction that ends the call enqueues them. */

export const encodingTask = 'encode_recording'
export const summaryTask = 'summarize_call'

/** The retries take about an hour; then the result is `exhausted`. */
const maxSummaryAttempts = 8
/** Enough for days with a full disk; the audio waits in its spool. */
const maxEncodingAttempts = 25

export interface CallJob {
  readonly organization_id: OrganizationId
  readonly call_id: string
  /** For the summary: why we hung up, if we did. */
  readonly hang_up_reason?: RequestedHangUp
}

/** `task` carries the name of the node that has the spool. */
export const enqueueEncoding = (tx: Transaction, call: CallKey, task: string): Promise<void> =>
  enqueueJob(tx, encodingJob(call, task))

/**
 * Moves the encoding of a spool to this node, which has the file: the machine was renamed, or the data folder moved. False:
 * this node has the job already, or the job is running.
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

// One job per call and kind.
const keyOf = (kind: string, { callId }: CallKey): string => `${kind}:${callId}`
