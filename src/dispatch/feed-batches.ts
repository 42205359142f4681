import type { Database } from '../database/database.ts'
import type { EndCall } from '../domains/calls/lifecycle/end-call.ts'
import {
  cancelDueLeftovers,
  nextBatchInMs,
  releaseDueBatches,
} from '../domains/batches/due-batches.ts'

/** An instant a fraction of a millisecond away is waited for, not polled in a loop. */
const shortestNapMs = 20

/**
 * One turn of the periodic work for batches: due ones enter the queue, and calls that returned to a cancelled one
 * are ended. Returns the milliseconds until the next scheduled start, if one is known.
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
