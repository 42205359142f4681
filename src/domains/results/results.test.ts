import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { callSummary, type CallSummary } from '../../contract/call-results.ts'
import { newId } from '../../runtime/ids.ts'
import {
  contextOf,
  createOrganizationFixture,
  type OrganizationFixture,
} from '../../../tests/support/organization-fixture.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { getCallSummary } from './get-call-summary.ts'
import { openResults, type ResultsAtEnd } from './open-results.ts'
import { publishSummary, publishTranscript } from './publish-result.ts'
import { resultStatesBefore } from './result-states.ts'
import { markResultExhausted, reopenResult } from './settle-result.ts'
import { appendTurn, hasTurns, listTurns, type CallKey } from './transcript-store.ts'

let test: TestDatabase
let ours: OrganizationFixture
let other: OrganizationFixture
let call: CallKey
before(async () => {
  test = await createTestDatabase()
  ours = await createOrganizationFixture(test.db)
  other = await createOrganizationFixture(test.db)
})
after(() => test.drop())
beforeEach(async () => {
  call = { organizationId: ours.organizationId, callId: await ours.placeCall() }
})

const plain = (text: string): string => text
const open = (results: ResultsAtEnd = { status: 'processing' }) =>
  test.db.transaction((tx) => openResults(tx, call, results))
const summarize = (summary: string, sanitize = plain) =>
  test.db.transaction((tx) => publishSummary(tx, call, summary, { version: 1, sanitize }))
const project = (sanitize = plain) =>
  test.db.transaction((tx) => publishTranscript(tx, call, { version: 1, sanitize }))
const say = (sequence: number, text: string) =>
  appendTurn(test.db, call, { sequence, speaker: 'agent', text, audioOffsetMs: sequence * 1000 })

/** The summary that clients get, checked against the contract. */
const summary = async (
  callId = call.callId,
  organizationId = call.organizationId,
): Promise<CallSummary> => {
  const input = { params: { call_id: callId }, query: {}, body: {} }
  const body = await getCallSummary(input, contextOf(test.db, organizationId))
  assert.deepEqual(callSummary.parse(body), body)
  return body as CallSummary
}

describe('turns', () => {
  it('are stored once each, in sequence, also when repeated', async () => {
    await Promise.all([say(2, 'two'), say(1, 'one'), say(2, 'two again')])
    await say(1, 'one again')
    const turns = await listTurns(test.db, call)
    assert.deepEqual(
      turns.map(({ sequence, audioOffsetMs }) => [sequence, audioOffsetMs]),
      [
        [1, 1000],
        [2, 2000],
      ],
    )
    assert.equal(turns[0]?.text, 'one')
    assert.equal(await hasTurns(test.db, call), true)
  })

  it('are stored for any text of an engine', async () => {
    await say(1, `a\u0000b\ud800c${'x'.repeat(30_000)}`)
    const [turn] = await listTurns(test.db, call)
    assert.equal(turn?.text.slice(0, 4), 'ab\ufffdc')
    assert.equal(turn?.text.length, 20_000)
  })

  it('are those of one call of one organization', async () => {
    await say(1, 'one')
    const elsewhere = { organizationId: other.organizationId, callId: call.callId }
    assert.equal(await hasTurns(test.db, elsewhere), false)
    assert.deepEqual(await listTurns(test.db, elsewhere), [])
    const turn = { sequence: 1, speaker: 'agent', text: 'x', audioOffsetMs: 0 } as const
    await assert.rejects(appendTurn(test.db, elsewhere, turn), { code: '23503' })
  })
})

describe('a summary', () => {
  it('waits for the end of the call', async () => {
    assert.deepEqual(await summary(), {
      object: 'call_summary',
      schema_version: '2026-07-28',
      call_id: call.callId,
      status: 'processing',
      revision: 0,
      summary: null,
      reason: 'call_not_ended',
      generated_at: null,
      poll_after_seconds: 5,
    })
  })

  it('waits for the transcript, then for its own text, then is ready', async () => {
    await say(1, 'Hello.')
    await open()
    assert.equal((await summary()).reason, 'awaiting_transcript')
    await project()
    assert.equal((await summary()).reason, 'generating')
    assert.equal(await summarize('They agreed.'), 'revised')
    const ready = await summary()
    assert.deepEqual(
      [ready.status, ready.revision, ready.summary, ready.reason],
      ['ready', 1, 'They agreed.', null],
    )
    assert.match(ready.generated_at ?? '', /^\d{4}-.*\.\d{3}Z$/)
    assert.equal('poll_after_seconds' in ready, false)
  })

  it('keeps its revision and date when the sanitized text is the same', async () => {
    await open()
    await summarize('Card 4111.', (text) => text.replaceAll(/\d/g, '*'))
    const first = await summary()
    assert.equal(await summarize('Card 4222.', (text) => text.replaceAll(/\d/g, '*')), 'unchanged')
    assert.deepEqual(await summary(), first)
    assert.equal(await summarize('Card.'), 'revised')
    assert.deepEqual([(await summary()).revision, (await summary()).summary], [2, 'Card.'])
  })

  it('rises by one for each of many concurrent publications that differ', async () => {
    await open()
    await Promise.all(Array.from({ length: 20 }, (_, index) => summarize(`Text ${index}.`)))
    assert.equal((await summary()).revision, 20)
  })

  it('counts one revision for many concurrent publications of the same text', async () => {
    await open()
    const published = await Promise.all(Array.from({ length: 20 }, () => summarize('Same.')))
    assert.equal(published.filter((publication) => publication === 'revised').length, 1)
    assert.equal((await summary()).revision, 1)
  })

  for (const reason of [
    'call_not_answered',
    'call_cancelled',
    'call_failed',
    'no_speech',
    'not_enabled',
  ] as const) {
    it(`is permanently unavailable because of ${reason}`, async () => {
      await open({ status: 'unavailable', reason })
      const body = await summary()
      assert.deepEqual(
        [body.status, body.reason, body.revision, body.summary, body.generated_at],
        ['unavailable', reason, 0, null, null],
      )
      assert.equal(await summarize('Late.'), 'closed')
      assert.equal(await markResultExhausted(test.db, call, 'summary', 'provider_error'), false)
      assert.deepEqual(await summary(), body)
    })
  }

  it('is exhausted until an operator retries it', async () => {
    await say(1, 'Hello.')
    await open()
    assert.equal(await markResultExhausted(test.db, call, 'summary', 'provider_timeout'), true)
    const exhausted = await summary()
    assert.deepEqual([exhausted.status, exhausted.reason], ['exhausted', 'provider_timeout'])
    assert.equal(await summarize('Late.'), 'closed')
    await project()
    assert.equal((await summary()).status, 'exhausted')
    assert.equal(await reopenResult(test.db, call, 'summary'), true)
    assert.equal((await summary()).reason, 'generating')
    assert.equal(await summarize('Now.'), 'revised')
    assert.equal(await reopenResult(test.db, call, 'summary'), false)
  })

  it('opens once: repeating the end of the call changes nothing', async () => {
    await open({ status: 'unavailable', reason: 'call_failed' })
    await open()
    assert.equal((await summary()).status, 'unavailable')
  })

  it('exists for API calls of the organization only', async () => {
    const manual = await ours.dial()
    for (const id of [manual, newId(), await other.placeCall()]) {
      await assert.rejects(summary(id), { code: 'resource_not_found' })
    }
    await assert.rejects(summary(call.callId, other.organizationId), { code: 'resource_not_found' })
  })

  it('is not changed with the id of another organization', async () => {
    await open()
    const elsewhere = { organizationId: other.organizationId, callId: call.callId }
    const published = test.db.transaction((tx) =>
      publishSummary(tx, elsewhere, 'X', { version: 1, sanitize: plain }),
    )
    assert.equal(await published, 'closed')
    assert.equal(await markResultExhausted(test.db, elsewhere, 'summary', 'provider_error'), false)
    assert.equal((await summary()).status, 'processing')
  })
})

describe('the states of a result', () => {
  it('have no exit from unavailable', () => {
    for (const state of ['processing', 'ready', 'unavailable', 'exhausted'] as const) {
      assert.equal(resultStatesBefore(state).includes('unavailable'), false)
    }
  })
})
