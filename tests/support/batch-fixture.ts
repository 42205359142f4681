import { batchInput, type Batch, type BatchInput } from '../../src/contract/batches.ts'
import type { Call } from '../../src/contract/calls.ts'
import type { Database, Transaction } from '../../src/database/database.ts'
import type { ClaimedCall } from '../../src/dispatch/claim/claim-calls.ts'
import { feedBatches } from '../../src/dispatch/feed-batches.ts'
import { passGate, type GateOutcome } from '../../src/dispatch/gate.ts'
import { computeDueLanes } from '../../src/dispatch/lane-edges.ts'
import { cancelBatch } from '../../src/domains/batches/cancel-batch.ts'
import { createBatch } from '../../src/domains/batches/create-batch.ts'
import { getBatch } from '../../src/domains/batches/get-batch.ts'
import { listBatches } from '../../src/domains/batches/list-batches.ts'
import { pauseBatch } from '../../src/domains/batches/pause-batch.ts'
import { settleBatchesOfCalls } from '../../src/domains/batches/settle-batch.ts'
import { startBatch } from '../../src/domains/batches/start-batch.ts'
import { cancelCall } from '../../src/domains/calls/cancel-call.ts'
import { endHeld, type CallResult } from '../../src/domains/calls/lifecycle/end-held-call.ts'
import { listCalls } from '../../src/domains/calls/list-calls.ts'
import { createEndCall } from '../../src/domains/calls/lifecycle/end-call.ts'
import { openResultsOfCalls } from '../../src/live-call/call/call-end-subscribers.ts'
import { systemTime, type Clock } from '../../src/runtime/time.ts'
import { newId } from '../../src/runtime/ids.ts'
import { unlimitedStorage } from '../../src/domains/organizations/storage-quotas.ts'
import { contextOf } from './organization-fixture.ts'
import {
  claimAndSettle,
  createCallingOrganization,
  insertNode,
  type CallingOrganization,
} from './queue-fixtures.ts'

/** Results and settlement, as the program composes them. */
export const endCall = createEndCall([openResultsOfCalls, settleBatchesOfCalls])

export const answered: CallResult = { status: 'completed', answerStatus: 'answered' }
export const busy: CallResult = { status: 'completed', answerStatus: 'busy' }
export const failed: CallResult = { status: 'failed', answerStatus: 'unknown' }

/** `count` recipients with different identities and numbers of one time zone. */
export const recipients = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => ({
    external_id: `person-${first + index}`,
    name: `Person ${first + index}`,
    phone_number: `+1202555${String(first + index).padStart(4, '0')}`,
  }))

type Members = Partial<Record<keyof BatchInput, unknown>>

/** An organization's batches, driven one step at a time as its API and its dispatcher do. */
export const createBatchFixture = async (
  db: Database,
  options: Parameters<typeof createCallingOrganization>[1] = { concurrency: 1000 },
  clock: Clock = systemTime,
) => {
  const organization: CallingOrganization = await createCallingOrganization(db, options)
  const { organizationId, agentId } = organization
  const nodeId = newId()
  await insertNode(db, nodeId)
  const write = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => db.transaction(work)
  const context = (tx: Transaction) => ({
    ...contextOf(tx, organizationId),
    parts: { quotas: unlimitedStorage, clock, endCall },
  })
  const action = (batchId: string) => ({ params: { batch_id: batchId }, query: {}, body: {} })

  return {
    ...organization,
    nodeId,
    /** A draft with this many recipients, or with these members of the body. */
    create: (count: number, members: Members = {}): Promise<Batch> => {
      const form = 'contact_ids' in members ? {} : { recipients: recipients(count) }
      const body = batchInput.parse({ name: 'Batch', agent_id: agentId, ...form, ...members })
      return write((tx) => createBatch({ params: {}, query: {}, body }, context(tx)))
    },
    start: (id: string): Promise<Batch> => write((tx) => startBatch(action(id), context(tx))),
    pause: (id: string): Promise<Batch> => write((tx) => pauseBatch(action(id), context(tx))),
    cancel: (id: string): Promise<Batch> => write((tx) => cancelBatch(action(id), context(tx))),
    get: (id: string): Promise<Batch> => getBatch(action(id), contextOf(db, organizationId)),
    list: (query: Parameters<typeof listBatches>[0]['query']) =>
      listBatches({ params: {}, query, body: {} }, contextOf(db, organizationId)),
    /** The recipient view, at most a page of it. */
    calls: async (id: string): Promise<readonly Call[]> => {
      const query = { limit: 100, batch_id: id }
      const input = { params: {}, query, body: {} }
      return (await listCalls(input, contextOf(db, organizationId))).data
    },
    cancelCall: (callId: string): Promise<Call> =>
      write((tx) => cancelCall({ params: { call_id: callId }, query: {}, body: {} }, context(tx))),
    /** Leases up to `limit` calls that are due in open lanes. */
    claim: async (limit = 100): Promise<readonly ClaimedCall[]> => {
      while ((await computeDueLanes(db)) > 0);
      const claimed: ClaimedCall[] = []
      while (claimed.length < limit) {
        const { calls } = await claimAndSettle(db, {
          nodeId,
          route: 'env',
          limit: limit - claimed.length,
          except: [],
        })
        if (calls.length === 0) break
        claimed.push(...calls)
      }
      return claimed
    },
    dial: (call: ClaimedCall): Promise<GateOutcome> => passGate(db, call, endCall),
    /** Ends a dialled call, with everything that commits with it. False: it had ended already. */
    end: (call: ClaimedCall, result: CallResult = answered): Promise<boolean> =>
      write(async (tx) => (await endCall(tx, endHeld(call, result))).length > 0),
    /** One turn of the loop over due batches. */
    feed: () => feedBatches(db, endCall),
  }
}

export type BatchFixture = Awaited<ReturnType<typeof createBatchFixture>>

/** The six counters that sum to the total, and the three of answers. */
export const counters = (batch: Batch) => ({
  pending: batch.pending_recipients,
  queued: batch.queued_recipients,
  in_progress: batch.in_progress_recipients,
  completed: batch.completed_recipients,
  failed: batch.failed_recipients,
  cancelled: batch.cancelled_recipients,
})

/** Only those that are not 0. */
export const filled = (batch: Batch): Record<string, number> =>
  Object.fromEntries(Object.entries(counters(batch)).filter(([, value]) => value !== 0))

/** Decision D5: what must hold in every observation. */
export const isConsistent = (batch: Batch): boolean => {
  const sum = Object.values(counters(batch)).reduce((total, value) => total + value, 0)
  const answers = batch.answered_recipients + batch.no_answer_recipients + batch.busy_recipients
  return sum === batch.total_recipients && answers <= batch.completed_recipients
}
