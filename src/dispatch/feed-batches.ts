import type { Database } from '../database/database.ts'
import type { EndCall } from '../domains/calls/lifecycle/end-call.ts'
import {
  cancelDueLeftovers,
  nextBatchInMs,
  releaseDueBatches,
} from '../domains/batches/due-batches.ts'

/** An instant a hair away is waited for, not spun for. */
const shortestNapMs = 20

/**
 * One turn of what batches need by themselves: those whose instant has come go into the queue, and what came back to
 * a cancelled one is ended. Answers in how many milliseconds the next instant comes, if one is known.
 */
export const feedBatches = async (
  database: Database,
  endCall: EndCall,
): Promise<number | undefined> => {
  await releaseDueBatches(database)
  await cancelDueLeftovers(database, endCall)
  const nextMs = await nextBatchInMs(database)
  return nextMs === undefined ? undefined : Math.max(nextMs, shortestNapMs)
}
