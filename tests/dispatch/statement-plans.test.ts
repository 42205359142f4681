/**
 * No statement in the life of a call reads more of large tables than it needs. This holds if PostgreSQL has no
 * statistics, if it has old statistics of small tables, and if a connection planned the statement then.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { findById } from '../../src/console/search/find-by-id.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { claimDueRuns } from '../../src/dispatch/automations/claim-runs.ts'
import { storeLook } from '../../src/dispatch/automations/commit-store.ts'
import { createDefinitionCache } from '../../src/dispatch/automations/definition-cache.ts'
import { loadRun } from '../../src/dispatch/automations/load-run.ts'
import { requestedCancellations } from '../../src/dispatch/cancellations.ts'
import type { ClaimedCall } from '../../src/dispatch/claim/claim-calls.ts'
import { feedBatches } from '../../src/dispatch/feed-batches.ts'
import { chooseLine } from '../../src/dispatch/numbers/choose-line.ts'
import { findWork } from '../../src/dispatch/claim/find-work.ts'
import { passGate } from '../../src/dispatch/gate.ts'
import { countAttempts } from '../../src/dispatch/gate-store.ts'
import { releaseClaim } from '../../src/domains/calls/lifecycle/release-claim.ts'
import { rescueJobs, touchJobWorkers } from '../../src/jobs/job-worker-store.ts'
import { renewLease } from '../../src/dispatch/lease/lease.ts'
import {
  endOverdueCalls,
  rescueDeadNodes,
  rescueForgottenCalls,
} from '../../src/dispatch/lease/rescue.ts'
import { wakeRunOfCall } from '../../src/domains/automations/run-store.ts'
import { settleBatch } from '../../src/domains/batches/settle-batch.ts'
import { findAgentOfCall } from '../../src/domains/calls/agent-of-call.ts'
import { markConnected } from '../../src/domains/calls/lifecycle/mark-connected.ts'
import { recordSummary } from '../../src/domains/calls/record-summary.ts'
import { requeueCongested } from '../../src/domains/calls/lifecycle/requeue-call.ts'
import { findApiCall } from '../../src/domains/calls/call-store.ts'
import { readOverview } from '../../src/domains/calls/overview-store.ts'
import { cancelQueuedCall, requestCancel } from '../support/call-ends.ts'
import { findPlacement } from '../../src/domains/calls/placement-store.ts'
import { upsertContactRow } from '../../src/domains/contacts/contact-store.ts'
import {
  lockKnownContacts,
  updateContacts,
} from '../../src/domains/contacts/contacts-of-recipients.ts'
import { readSummary, readTranscript } from '../../src/domains/results/result-reader.ts'
import { purgeSupersededRevisions } from '../../src/domains/results/result-store.ts'
import { appendTurn, listTurns } from '../../src/domains/results/transcript-store.ts'
import { purgeExpiredClaims } from '../../src/http/idempotency-claims.ts'
import { newId } from '../../src/runtime/ids.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import {
  countNumberResultsOfCalls,
  countUsageOfCalls,
  openResultsOfCalls,
  uncountNumbersOfCalls,
} from '../../src/live-call/call/call-end-subscribers.ts'
import { endSomeCalls, grown, growTables, type Grown } from '../support/grown-tables.ts'
import { contactBody } from '../support/organization-fixture.ts'
import {
  claimAndSettle,
  createCallingOrganization,
  execute,
  insertNode,
  openTrunk,
  queueCalls,
  type CallingOrganization,
} from '../support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { watchDatabase, type WatchedDatabase } from '../support/watched-database.ts'
import { createEndCall } from '../../src/domains/calls/lifecycle/end-call.ts'
import { endHeld } from '../../src/domains/calls/lifecycle/end-held-call.ts'

/** What a statement may read, in vain or not: rows of tables and indexes, and their pages. */
interface Limit {
  readonly rows: number
  readonly pages: number
}

/** For statements about one call, contact or run, or a few. */
const usual: Limit = { rows: 60, pages: 150 }
/** They read all live calls, in one pass: never more than the channels. Each may be on its own page. */
const ofLiveCalls: Limit = { rows: 1.1 * grown.live, pages: 2 * grown.live }
const limits: Readonly<Record<string, Limit>> = {
  // 256 lanes, each looked up twice; ten calls, written into six indexes; the live ones, counted in the index; and,
  // where the statistics are of one lane, all lanes of the organization once.
  'claim-calls.claim': { rows: 600 + grown.live + 1.1 * grown.lanes, pages: 2_500 },
  'claim-calls.refillRoute': ofLiveCalls,
  // Rows of new pages, or of many indexes, and look-ups by PL/pgSQL.
  'insert-call.insertCall': { rows: 60, pages: 600 },
  'enqueue-job.add': { rows: 60, pages: 600 },
  // A new contact's words are written too, by a trigger: a dozen keys.
  'contact-store.upsertContactRow': { rows: 60, pages: 400 },
  'contacts-of-recipients.lockKnownContacts': { rows: 600, pages: 1_500 },
  'contacts-of-recipients.updateContacts': { rows: 200, pages: 4_000 },
  'rescue.overdueCalls': ofLiveCalls,
  'rescue.dialledForgotten': ofLiveCalls,
  // And the lost ones are written.
  'rescue.requeueForgotten': {
    rows: 1.1 * grown.live + 10 * grown.lost,
    pages: 2 * grown.live + 60 * grown.lost,
  },
  'rescue.requeueOfDeadNodes': ofLiveCalls,
  'rescue.dialledByDeadNodes': ofLiveCalls,
  'rescue.forgetNodes': ofLiveCalls,
}

let database: TestDatabase
let db: WatchedDatabase
let plain: Database
let organization: CallingOrganization
const nodeId = newId()
/** Calls claimed, and recipients of a batch, in each life. */
const claimed = 10
const recipients = 50

/** All events of calls, from their acceptance to their results, and around them. */
const live = async ({ batchId, automationId }: Grown, lost: number): Promise<void> => {
  const { organizationId, agentId, contactId } = organization
  await findPlacement(db, organizationId, agentId, contactId)
  await db.transaction((tx) =>
    upsertContactRow(tx, organizationId, contactBody({ phone_number: '+12025550177' })),
  )
  await db.transaction(async (tx) => {
    const inputs = Array.from({ length: recipients }, (_, n) =>
      contactBody({ phone_number: `+1202${3_000_100 + n}`, external_id: `c${100 + n}` }),
    )
    const known = await lockKnownContacts(tx, organizationId, inputs)
    const changes = known.flatMap(({ id, phone_number: number }) =>
      inputs.filter((input) => input.phone_number === number).map((input) => ({ id, input })),
    )
    await updateContacts(tx, organizationId, changes)
  })
  await queueCalls(db, organization, 1)
  await findWork(db, ['env'])
  const { calls } = await claimAndSettle(db, { nodeId, route: 'env', limit: claimed, except: [] })
  const [first, second, third, ...others] = calls
  assert.ok(first && second && third)
  await pass(first)
  await markConnected(db, first, new Date())
  const turn = { sequence: 0, speaker: 'agent', text: 'Hello.', audioOffsetMs: 0 } as const
  await appendTurn(db, first, turn)
  await end(first, batchId)
  await listTurns(db, first)
  await recordSummary(db, organizationId, first.callId, { summary: 'Nothing.' })
  await findAgentOfCall(db, organizationId, first.callId)
  await findApiCall(db, organizationId, first.callId)
  await readSummary(db, first)
  await readTranscript(db, first, 10)
  await pass(second)
  await requeueCongested(db, second, { attempt: 1, reason: 'SIP 503' })
  await releaseClaim(db, third, { reason: 'Later.', until: new Date(), waitReason: 'no_engine' })
  await db.transaction((tx) => requestCancel(tx, organizationId, third.callId, undefined))
  for (const { callId } of others)
    await db.transaction((tx) => cancelQueuedCall(tx, organizationId, callId, 'Test'))
  await db.transaction((tx) =>
    countAttempts(tx, organizationId, organization.phoneNumber, new Date(0)),
  )
  await around(automationId, lost)
}

const endCall = createEndCall([
  openResultsOfCalls,
  countUsageOfCalls,
  uncountNumbersOfCalls,
  countNumberResultsOfCalls,
])

const pass = async (call: ClaimedCall): Promise<void> => {
  await chooseLine(db, { ...call, served: ['a'], installationNumber: '+12025550199' })
  const outcome = await passGate(db, call, endCall)
  assert.equal(outcome.kind, 'dial')
}

const end = (call: ClaimedCall, batchId: string): Promise<void> =>
  db.transaction(async (tx) => {
    const [ended] = await endCall(
      tx,
      endHeld(call, { status: 'completed', answerStatus: 'answered' }),
    )
    assert.ok(ended)
    await settleBatch(tx, call.organizationId, batchId)
  })

/** A node's periodic statements. */
const around = async (automationId: string, lost: number): Promise<void> => {
  const { organizationId } = organization
  await renewLease(db, nodeId)
  await requestedCancellations(db, nodeId)
  await endOverdueCalls(db, endCall)
  const { requeued } = await rescueForgottenCalls(db, nodeId, [], endCall)
  assert.equal(requeued, lost)
  await rescueDeadNodes(db, endCall)
  await feedBatches(db, endCall)
  for (const run of await claimDueRuns(db, { limit: 5, leaseMs: 1_000 })) {
    await loadRun(db, run, createDefinitionCache())
    const look = { status: 'waiting', waitReason: 'wait_step' } as const
    const at = { wakeAt: new Date(), now: new Date() }
    await storeLook(db, { ...run, sequence: 0, wakeCount: 0 }, { ...look, ...at })
    await db.transaction((tx) => wakeRunOfCall(tx, organizationId, run.runId, automationId))
  }
  // The beginning of all ids of these tables.
  await findById(db, organizationId, '000000')
  await touchJobWorkers(db, ['pool'])
  await rescueJobs(db, 60)
  await purgeSupersededRevisions(db, 100)
  await purgeExpiredClaims(db, 100)
}

const judge = (): void => {
  const problems = [...db.looks].flatMap(([name, { rows, pages, scans }]) => {
    const limit = limits[name] ?? usual
    return rows > limit.rows || pages > limit.pages
      ? [
          `${name}: ${rows} rows, ${pages} pages
${scans}`,
        ]
      : []
  })
  assert.deepEqual(problems, [])
  assert.ok(db.looks.size > 40, `${db.looks.size} statements were watched`)
}

describe('statements over large tables', () => {
  beforeEach(async () => {
    database = await createTestDatabase()
    plain = database.db
    const { connection } = database
    db = watchDatabase(openDatabase({ connection, logger: silentLogger, maxConnections: 1 }))
    await execute(plain, 'alter table calls set (autovacuum_enabled = off)')
    await openTrunk(plain, 10_000)
    await insertNode(plain, nodeId)
    organization = await createCallingOrganization(plain, { concurrency: 5_000 })
    await queueCalls(plain, organization, 1)
  })
  afterEach(async () => {
    await db.stop()
    await database.drop()
  })

  it('that were never analyzed are read by their keys', async () => {
    await live(await growTables(plain, organization, nodeId), grown.lost)
    judge()
  })

  it('of a day are read without those of other days', async () => {
    await growTables(plain, organization, nodeId)
    const { organizationId } = organization
    await execute(
      plain,
      `update calls
          set created_at = created_at - interval '30 days', origin = case when call_hash % 2 = 0 then 'cli' else origin end
         from (select id as other_id, abs(hashtext(id::text)) as call_hash from calls) as hashed
        where id = other_id
          and status = 'completed'`,
    )
    const overview = await readOverview(db, organizationId)
    assert.equal(overview?.live_now, grown.live)
    assert.ok((overview?.queued_now ?? 0) >= grown.queued - grown.lost)
    const look = db.looks.get('overview-store.readOverview')
    assert.ok(look)
    // The queue and the live calls twice, as waiting and as of today; none of the ended ones.
    const open = grown.queued + grown.live
    assert.ok(look.rows < 2.2 * open, `${look.rows} rows\n${look.scans}`)
  })

  it('that were analyzed when they were small are read by their keys', async () => {
    await endSomeCalls(plain, organization, 60)
    await execute(plain, 'analyze')
    await live(await growTables(plain, organization, nodeId), grown.lost)
    judge()
  })

  it('that were planned when they were empty are read by their keys', async () => {
    await queueCalls(plain, organization, claimed)
    await live({ batchId: newId(), automationId: newId() }, 0)
    await live(await growTables(plain, organization, nodeId), grown.lost)
    judge()
  })
})
