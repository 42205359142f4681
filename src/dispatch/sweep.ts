import type { Database } from '../database/database.ts'
import type { EndCall } from '../domains/calls/lifecycle/end-call.ts'
import type { Clock } from '../runtime/time.ts'
import type { Logger } from '../runtime/logger.ts'
import { createNumberSweep } from './forgotten-numbers.ts'
import type { Lease } from './lease/lease.ts'
import type { LiveCalls } from './live-calls.ts'
import { endOverdueCalls, rescueDeadNodes, rescueForgottenCalls } from './lease/rescue.ts'

/**
 * An expired lease proves a dead node only if the node could have renewed it: after the database itself was
 * unavailable (a failover), all nodes get this long to come back before any is declared dead.
 */
export const contactBeforeRescueMs = 5_000
/** A longer gap between two sweeps counts as unavailability. */
const maxContactGapMs = 3_000

interface SweepOptions {
  readonly database: Database
  readonly endCall: EndCall
  readonly clock: Clock
  readonly logger: Logger
  readonly live: LiveCalls
  lease(): Lease | undefined
}

/**
 * Settles what no other part does: calls of dead nodes, calls unknown to this node, overdue calls, free numbers.
 */
export const createSweep = (options: SweepOptions): (() => Promise<void>) => {
  const { database, endCall, clock, logger, live } = options
  const sweepNumbers = createNumberSweep(database)
  let contactSinceMs = clock.monotonicMs()
  let lastContactMs = contactSinceMs

  const keepContact = (): number => {
    const nowMs = clock.monotonicMs()
    if (nowMs - lastContactMs > maxContactGapMs) contactSinceMs = nowMs
    lastContactMs = nowMs
    return nowMs - contactSinceMs
  }

  return async () => {
    const lease = options.lease()
    for (const callId of await endOverdueCalls(database, endCall)) {
      logger.error({ call_id: callId }, 'an overdue call was ended by the watchdog')
      live.abort(callId, 'lease_lost')
    }
    if (lease) {
      const forgotten = await rescueForgottenCalls(database, lease.nodeId, live.ids(), endCall)
      if (forgotten.requeued + forgotten.ended > 0)
        logger.warn(forgotten, 'forgotten calls settled')
    }
    const numbers = await sweepNumbers()
    if (numbers > 0) logger.warn({ numbers }, 'calls waited for numbers that were free')
    // Only a sweep that reached the database counts as contact.
    if (keepContact() < contactBeforeRescueMs) return
    const rescued = await rescueDeadNodes(database, endCall)
    if (rescued.requeued + rescued.ended > 0) logger.warn(rescued, 'calls of a dead node settled')
  }
}
