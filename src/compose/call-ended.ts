import { wakeRunAfterCall } from '../domains/automations/wake-run.ts'
import { settleBatchOfCall } from '../domains/batches/settle-batch.ts'
import type { OnCallEnded } from '../domains/calls/lifecycle/call-ended.ts'
import { openResultsOfEndedCall } from '../live-call/call/finish-call.ts'

/** What the source of a call has to know in the very commit that ends it. Locks come in this order. */
export const settleCall: OnCallEnded = async (tx, call) => {
  await settleBatchOfCall(tx, call)
  await wakeRunAfterCall(tx, call)
}

/** The same for a call that no live call ends: its results are opened with it. */
export const onCallEnded: OnCallEnded = async (tx, call) => {
  await openResultsOfEndedCall(tx, call)
  await settleCall(tx, call)
}
