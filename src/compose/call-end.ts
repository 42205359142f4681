import { wakeRunsOfCalls } from '../domains/automations/wake-run.ts'
import { settleBatchesOfCalls } from '../domains/batches/settle-batch.ts'
import { createEndCall } from '../domains/calls/lifecycle/end-call.ts'
import {
  blockOptedOut,
  countNumberResultsOfCalls,
  countUsageOfCalls,
  keepRecording,
  openResultsOfCalls,
  storeConversation,
  uncountNumbersOfCalls,
  type LearnedOnCall,
} from '../live-call/call/call-end-subscribers.ts'

/** Ends a call. The subscribers commit with it, in this order. */
export const endCall = createEndCall<LearnedOnCall>([
  storeConversation,
  blockOptedOut,
  keepRecording,
  openResultsOfCalls,
  settleBatchesOfCalls,
  wakeRunsOfCalls,
  // Last: many calls of a day write the same rows, which are locked until the commit.
  countUsageOfCalls,
  uncountNumbersOfCalls,
  countNumberResultsOfCalls,
])
