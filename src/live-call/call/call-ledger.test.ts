import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import {
  createCallingOrganization,
  execute,
  queueCalls,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import { newId } from '../../runtime/ids.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { failRecording, recordingStatus } from '../../domains/recordings/recording-store.ts'
import { listTurns, type SpokenTurn } from '../../domains/results/transcript-store.ts'
import { adoptCall } from './adopt-call.ts'
import { fakeCall, fakeReport } from '../../../tests/support/live-call/fake-call.ts'
import { createCallLedger } from './call-ledger.ts'
import type { CallLedger, FinishedCall } from './live-call-port.ts'
import type { DialableCall } from '../../domains/calls/lifecycle/hand-over.ts'
import { ContentRejectedError } from '../../call-text/summarize-with-model.ts'
import { createEndCall, type CallEndSubscriber } from '../../domains/calls/lifecycle/end-call.ts'
import {
  keepRecording,
  openResultsOfCalls,
  storeConversation,
  type LearnedOnCall,
} from './call-end-subscribers.ts'
import type { Summarizer } from '../../call-text/create-summarizer.ts'
import { createSummarizeCall } from './summarize-call.ts'

const turn = (sequence: number, text: string): SpokenTurn => ({
  sequence,
  speaker: sequence % 2 === 1 ? 'agent' : 'contact',
  text,
  audioOffsetMs: sequence * 1000,
})

const answered = (changes: Partial<NonNullable<FinishedCall['answered']>> = {}) => ({
  connectedAt: new Date(),
  durationSeconds: 12,
  optedOut: false,
  unsavedTurns: [],
  turnCount: 2,
  report: fakeReport,
  ...changes,
})

/** Like `blockOptedOut`, except that it refuses a listed number. */
const blockOnce: CallEndSubscriber<LearnedOnCall> = async (tx, calls) => {
  for (const call of calls)
    if (call.learned?.optedOut === true)
      await execute(
        tx,
        `insert into dnc_numbers (organization_id, phone_number, origin, call_id) values ($1, $2, 'opt_out', $3)`,
        [call.organizationId, call.phoneNumber, call.callId],
      )
}

const completed = { status: 'completed', answerStatus: 'answered' } as const

describe('the end of a call in the database', () => {
  let database: TestDatabase
  let organization: CallingOrganization
  let ledger: CallLedger
  before(async () => {
    database = await createTestDatabase()
    organization = await createCallingOrganization(database.db, { concurrency: 100 })
    ledger = createCallLedger({
      database: database.db,
      endCall: createEndCall<LearnedOnCall>([
        storeConversation,
        blockOnce,
        keepRecording,
        openResultsOfCalls,
      ]),
      encodingTask: 'encode_recording:here',
    })
  })
  after(() => database.drop())

  const dialing = async (): Promise<DialableCall> => {
    const [row] = await queueCalls(
      database.db,
      organization,
      1,
      undefined,
      organization.phoneNumber,
    )
    const call = fakeCall({
      organizationId: organization.organizationId,
      callId: row?.id ?? '',
      leaseToken: newId(),
    })
    await execute(
      database.db,
      `update calls set status = 'dialing', dialing_at = now(), lease_token = $3, attempt = 1
        where organization_id = $1 and id = $2`,
      [call.organizationId, call.callId, call.leaseToken],
    )
    return call
  }
  const stateOf = async ({ organizationId, callId }: DialableCall) => {
    const [row] = await execute<Record<string, unknown>>(
      database.db,
      `select c.status, c.answer_status, c.outcome, c.outcome_reason, c.duration_seconds, c.summary, c.wait_reason,
              (select array_agg(kind || ' ' || status || ' ' || coalesce(reason, '-') || ' ' || revision order by kind)
                 from results r where r.organization_id = c.organization_id and r.call_id = c.id) as results,
              (select array_agg(task_identifier order by task_identifier) from graphile_worker.jobs
                where key like '%' || c.id) as jobs
         from calls c
        where c.organization_id = $1 and c.id = $2`,
      [organizationId, callId],
    )
    return row ?? {}
  }

  it('commits state, recording, results and jobs of a conversation together', async () => {
    const call = await dialing()
    assert.equal(await ledger.markConnected(call, new Date()), true)
    await ledger.appendTurn(call, turn(1, 'Hello.'))
    await ledger.appendTurn(call, turn(1, 'Hello again.'))
    const unsavedTurns = [turn(2, 'Hi.')]
    assert.equal(
      await ledger.finish(call, { ending: completed, answered: answered({ unsavedTurns }) }),
      true,
    )
    assert.deepEqual(await stateOf(call), {
      status: 'completed',
      answer_status: 'answered',
      outcome: null,
      outcome_reason: null,
      duration_seconds: 12,
      summary: null,
      wait_reason: null,
      results: [
        'summary processing awaiting_transcript 0',
        'transcript processing awaiting_transcript 0',
      ],
      jobs: ['encode_recording:here', 'summarize_call'],
    })
    assert.equal(await recordingStatus(database.db, call), 'encoding')
    assert.deepEqual(
      (await listTurns(database.db, call)).map(({ text }) => text),
      ['Hello.', 'Hi.'],
    )
  })

  it('lets the first terminal transaction win, and leaves no trace of the second', async () => {
    const call = await dialing()
    assert.equal(await ledger.finish(call, { ending: { status: 'cancelled' } }), true)
    assert.equal(await ledger.finish(call, { ending: completed, answered: answered() }), false)
    const { status, results, jobs } = await stateOf(call)
    assert.deepEqual(
      [status, results, jobs],
      [
        'cancelled',
        ['summary unavailable call_cancelled 0', 'transcript unavailable call_cancelled 0'],
        null,
      ],
    )
    assert.equal(await recordingStatus(database.db, call), undefined)
  })

  it('changes nothing under a lease that another holder has replaced', async () => {
    const call = await dialing()
    const fenced = { ...call, leaseToken: newId() }
    assert.equal(await ledger.markConnected(fenced, new Date()), false)
    assert.equal(
      await ledger.requeue(fenced, { kind: 'unsent', reason: 'Nothing was sent.' }),
      false,
    )
    assert.equal(await ledger.finish(fenced, { ending: completed, answered: answered() }), false)
    assert.equal((await stateOf(call))['status'], 'dialing')
  })

  it('sends a congested call back to the queue, with its reason to wait', async () => {
    const call = await dialing()
    const attempt = {
      kind: 'congested',
      reason: 'SIP 503 Service Unavailable',
      retryAfterMs: 7000,
    } as const
    assert.equal(await ledger.requeue(call, attempt), true)
    const { status, wait_reason: waitReason } = await stateOf(call)
    assert.deepEqual([status, waitReason], ['queued', 'carrier_congestion'])
  })

  it('gives up a call that was refused for a day, with a reason that begins with the answer', async () => {
    const attempt = { kind: 'congested', reason: 'SIP 503 Service Unavailable: no room.' } as const
    const young = await dialing()
    assert.equal(await ledger.endOfCongestion?.(young, attempt), undefined)
    await execute(
      database.db,
      `update calls set congestions = 99, congested_since = now() - interval '25 hours' where id = $1`,
      [young.callId],
    )
    assert.deepEqual(await ledger.endOfCongestion?.(young, attempt), {
      status: 'failed',
      answerStatus: 'unknown',
      outcome: 'not_reached',
      outcomeReason:
        'SIP 503 Service Unavailable: no room; refused 100 times in 25 hours, the call is given up.',
    })
    const unsent = { kind: 'unsent', reason: 'Nothing was sent.' } as const
    assert.equal(await ledger.endOfCongestion?.(young, unsent), undefined)
  })

  it('bars the number of a contact that opted out, or ends nothing at all', async () => {
    const call = await dialing()
    await ledger.appendTurn(call, turn(1, 'Please never call me again.'))
    const ending = { ...completed, outcome: 'opted_out', outcomeReason: 'The contact asked.' }
    await ledger.finish(call, { ending, answered: answered({ optedOut: true }) })
    assert.equal((await stateOf(call))['outcome'], 'opted_out')
    // The list refuses a second entry, so that the whole end is rolled back with it.
    const second = await dialing()
    await assert.rejects(ledger.finish(second, { ending, answered: answered({ optedOut: true }) }))
    assert.equal((await stateOf(second))['status'], 'dialing')
  })

  const silentEnds = [
    [{ ending: { status: 'completed', answerStatus: 'busy' } }, 'call_not_answered'],
    [{ ending: { status: 'failed', answerStatus: 'unknown' } }, 'call_failed'],
    [{ ending: completed, answered: answered({ turnCount: 0 }) }, 'no_speech'],
  ] as const satisfies readonly (readonly [FinishedCall, string])[]
  for (const [finished, reason] of silentEnds) {
    it(`closes the results of a call without a word because of ${reason}`, async () => {
      const call = await dialing()
      await ledger.finish(call, finished)
      assert.deepEqual((await stateOf(call))['results'], [
        `summary unavailable ${reason} 0`,
        `transcript unavailable ${reason} 0`,
      ])
    })
  }

  it('adopts the spool of a call that the rescue ended, once', async () => {
    const call = await dialing()
    const adopt = () => adoptCall(database.db, call, 'encode_recording:here')
    assert.equal(await adopt(), 'kept')
    await ledger.finish(call, { ending: { status: 'failed', answerStatus: 'answered' } })
    assert.equal(await adopt(), 'adopted')
    assert.equal(await adopt(), 'kept')
    assert.deepEqual((await stateOf(call))['jobs'], ['encode_recording:here'])
    await failRecording(database.db, call)
    assert.equal(await adopt(), 'done')
    assert.equal(await adoptCall(database.db, { ...call, callId: newId() }, 'x'), 'unknown')
  })

  it('takes over the encoding of a spool on this machine from a node of another name, once', async () => {
    const call = await dialing()
    await ledger.finish(call, { ending: completed, answered: answered() })
    assert.ok(((await stateOf(call))['jobs'] as string[]).includes('encode_recording:here'))
    const adopt = () => adoptCall(database.db, call, 'encode_recording:renamed')
    assert.equal(await adopt(), 'adopted')
    assert.equal(await adopt(), 'kept')
    const jobs = (await stateOf(call))['jobs'] as string[]
    assert.ok(jobs.includes('encode_recording:renamed'))
    assert.ok(!jobs.includes('encode_recording:here'))
  })

  const spoken = async (): Promise<DialableCall> => {
    const call = await dialing()
    await ledger.appendTurn(call, turn(1, 'Hello, do you have time tomorrow?'))
    await ledger.appendTurn(call, turn(2, 'Yes, my card is 4111 1111 1111 1111.'))
    await ledger.finish(call, { ending: completed, answered: answered() })
    return call
  }
  const summarizeWith = (summarize: Summarizer, isLast: boolean) => async (call: DialableCall) =>
    createSummarizeCall({ database: database.db, summarize, logger: silentLogger })(
      { organization_id: call.organizationId, call_id: call.callId },
      { isLast, signal: new AbortController().signal },
    )
  const answer = {
    summary: 'They have time.',
    outcome: 'achieved',
    outcomeReason: 'They said yes.',
  }

  it('publishes the sanitized transcript and the summary, and repeats without a new revision', async () => {
    const call = await spoken()
    const seen: string[] = []
    const summarize = summarizeWith(async ({ turns }) => {
      seen.push(...turns.map(({ text }) => text))
      return answer
    }, false)
    await summarize(call)
    await summarize(call)
    const { results, outcome, summary, outcome_reason: reason } = await stateOf(call)
    assert.deepEqual(results, ['summary ready - 1', 'transcript ready - 1'])
    assert.deepEqual([outcome, summary, reason], ['achieved', 'They have time.', 'They said yes.'])
    assert.ok(seen.length === 4 && seen.every((text) => !text.includes('4111')))
  })

  it('shows the transcript while the summary is retried, and exhausts it at the end', async () => {
    const call = await spoken()
    const away = () => Promise.reject(new Error('away'))
    await assert.rejects(summarizeWith(away, false)(call), { message: 'away' })
    assert.deepEqual((await stateOf(call))['results'], [
      'summary processing generating 0',
      'transcript ready - 1',
    ])
    await summarizeWith(away, true)(call)
    assert.deepEqual((await stateOf(call))['results'], [
      'summary exhausted provider_error 0',
      'transcript ready - 1',
    ])
  })

  it('does not retry what a provider refuses to read', async () => {
    const call = await spoken()
    await summarizeWith(() => Promise.reject(new ContentRejectedError('refused')), false)(call)
    assert.deepEqual((await stateOf(call))['results'], [
      'summary exhausted content_rejected 0',
      'transcript ready - 1',
    ])
  })
})
