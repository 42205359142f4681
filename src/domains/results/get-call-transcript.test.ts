import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { transcriptPageBytes, transcriptTurn } from '../../contract/call-results.ts'
import type { Position } from '../../contract/paging.ts'
import {
  contextOf,
  createOrganizationFixture,
  type OrganizationFixture,
} from '../../../tests/support/organization-fixture.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { getCallTranscript } from './get-call-transcript.ts'
import { openResults } from './open-results.ts'
import { publishTranscript } from './publish-result.ts'
import { purgeSupersededRevisions } from './result-store.ts'
import { appendTurn, type CallKey } from './transcript-store.ts'

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
  await test.db.transaction((tx) => openResults(tx, call, { status: 'processing' }))
})

const project = (sanitize = (text: string) => text) =>
  test.db.transaction((tx) => publishTranscript(tx, call, { version: 1, sanitize }))
const sayAll = async (texts: readonly string[]) => {
  for (const [index, text] of texts.entries()) {
    const speaker = index % 2 === 0 ? 'agent' : 'contact'
    const turn = { sequence: index + 1, speaker, text, audioOffsetMs: index * 500 } as const
    await appendTurn(test.db, call, turn)
  }
}
const read = (limit = 100, cursor: Position | null = null, { organizationId, callId } = call) =>
  getCallTranscript(
    {
      params: { call_id: callId },
      query: { limit, ...(cursor && { cursor }) },
      body: {},
    },
    contextOf(test.db, organizationId),
  )
const textsOf = ({ turns }: Awaited<ReturnType<typeof read>>): string[] =>
  (turns ?? []).map(({ text }) => text)
const age = (hours: number) =>
  test.db.run(
    {
      name: 'test.age',
      text: `update result_revisions set superseded_at = superseded_at - make_interval(hours => $2)
              where call_id = $1`,
    },
    [call.callId, hours],
  )

describe('GET /calls/{call_id}/transcript', () => {
  it('waits while the transcript is being made', async () => {
    const { next, ...body } = await read()
    assert.equal(next, null)
    assert.deepEqual(body, {
      object: 'call_transcript',
      schema_version: '2026-07-28',
      call_id: call.callId,
      status: 'processing',
      revision: 0,
      turns: null,
      reason: 'awaiting_transcript',
      generated_at: null,
      poll_after_seconds: 2,
    })
  })

  it('shows sanitized turns in sequence', async () => {
    await sayAll(['Hello.', 'My card is 4111.', 'Thanks.'])
    await project((text) => text.replaceAll(/\d/g, '*'))
    const body = await read()
    assert.deepEqual(textsOf(body), ['Hello.', 'My card is ****.', 'Thanks.'])
    assert.deepEqual(transcriptTurn.array().parse(body.turns), body.turns)
    assert.deepEqual([body.status, body.revision, body.next], ['ready', 1, null])
    assert.deepEqual(
      body.turns?.map(({ sequence, speaker, audio_offset_ms: ms }) => [sequence, speaker, ms]),
      [
        [1, 'agent', 0],
        [2, 'contact', 500],
        [3, 'agent', 1000],
      ],
    )
  })

  it('shows words that were stored late at the time they were spoken', async () => {
    const spoken = [
      { sequence: 1, speaker: 'agent', text: 'Hello.', audioOffsetMs: 100 },
      { sequence: 2, speaker: 'agent', text: 'One moment, please.', audioOffsetMs: 9_000 },
      { sequence: 3, speaker: 'contact', text: 'Who is this?', audioOffsetMs: 4_000 },
    ] as const
    for (const turn of spoken) await appendTurn(test.db, call, turn)
    await project()
    assert.deepEqual(
      (await read()).turns?.map(({ sequence, text }) => [sequence, text]),
      [
        [1, 'Hello.'],
        [2, 'Who is this?'],
        [3, 'One moment, please.'],
      ],
    )
  })

  it('omits turns that became empty, and is unavailable without any turn', async () => {
    await sayAll(['\u200b', 'Hello.'])
    await project((text) => text.replaceAll('\u200b', ''))
    assert.deepEqual(textsOf(await read()), ['Hello.'])
    call = { ...call, callId: await ours.placeCall() }
    await test.db.transaction((tx) => openResults(tx, call, { status: 'processing' }))
    await sayAll(['\u200b'])
    await project(() => '')
    const silent = await read()
    assert.deepEqual([silent.status, silent.reason], ['unavailable', 'no_speech'])
  })

  it('pages without a gap, for any limit', async () => {
    const texts = Array.from({ length: 23 }, (_, index) => `Turn ${index}.`)
    await sayAll(texts)
    await project()
    for (const limit of [1, 5, 22, 23, 250]) {
      const seen: string[] = []
      let cursor: Position | null = null
      do {
        const page: Awaited<ReturnType<typeof read>> = await read(limit, cursor)
        assert.ok(textsOf(page).length <= limit)
        seen.push(...textsOf(page))
        cursor = page.next
      } while (cursor)
      assert.deepEqual(seen, texts)
    }
  })

  it('ends a page before 256 KiB of text, counted in bytes, but always returns a turn', async () => {
    // 15,000 characters of 3 bytes: five of them fit, six do not.
    const texts = Array.from({ length: 12 }, (_, index) => `${index % 10}${'語'.repeat(14_999)}`)
    await sayAll(texts)
    await project()
    const first = await read(250)
    assert.deepEqual(textsOf(first), texts.slice(0, 5))
    assert.ok(Buffer.byteLength(texts.slice(0, 6).join('')) > transcriptPageBytes)
    const second = await read(250, first.next)
    const third = await read(250, second.next)
    assert.deepEqual([...textsOf(second), ...textsOf(third)], texts.slice(5))
    assert.equal(third.next, null)
  })

  it('pins the revision that a cursor began with', async () => {
    await sayAll(['One.', 'Two.', 'Three.'])
    await project()
    const first = await read(1)
    const { generated_at: firstDate } = first
    await project((text) => text.toUpperCase())
    const rest = await read(100, first.next)
    assert.deepEqual(textsOf(rest), ['Two.', 'Three.'])
    assert.deepEqual([rest.status, rest.revision, rest.generated_at], ['ready', 1, firstDate])
    const restarted = await read()
    assert.deepEqual(textsOf(restarted), ['ONE.', 'TWO.', 'THREE.'])
    assert.equal(restarted.revision, 2)
  })

  it('keeps the revision when nothing changed', async () => {
    await sayAll(['One.'])
    assert.equal(await project(), 'revised')
    assert.equal(await project(), 'unchanged')
    assert.equal((await read()).revision, 1)
  })

  it('reads a superseded revision for 24 hours, then refuses its cursor', async () => {
    await sayAll(['One.', 'Two.'])
    await project()
    const { next } = await read(1)
    await project((text) => `${text}!`)
    await age(23)
    assert.deepEqual(textsOf(await read(1, next)), ['Two.'])
    await age(2)
    await assert.rejects(read(1, next), {
      code: 'validation_error',
      details: { fields: [{ path: 'cursor', code: 'invalid_cursor' }] },
    })
  })

  it('purges exactly the revisions that no cursor can name', async () => {
    await sayAll(['One.', 'Two.'])
    await project()
    await project((text) => `${text}!`)
    await project((text) => `${text}?`)
    // The rows of the other tests of this file.
    await purgeSupersededRevisions(test.db, 100)
    assert.equal(await purgeSupersededRevisions(test.db, 100), 0)
    await age(25)
    assert.equal(await purgeSupersededRevisions(test.db, 1), 1)
    assert.equal(await purgeSupersededRevisions(test.db, 100), 1)
    assert.deepEqual(textsOf(await read()), ['One.?', 'Two.?'])
  })

  it('reads one revision to its end while others are published continuously', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `Sentence ${index}.`)
    await sayAll(texts)
    await project()
    const pages = [await read(4)]
    for (let version = 2; pages.at(-1)?.next; version += 1) {
      const [page] = await Promise.all([
        read(4, pages.at(-1)?.next),
        project((text) => `${text} (${version})`),
      ])
      pages.push(page)
    }
    assert.deepEqual(pages.flatMap(textsOf), texts)
    assert.deepEqual(new Set(pages.map(({ revision }) => revision)), new Set([1]))
    assert.equal((await read()).revision, pages.length)
  })

  it('has immutable revisions, each with the version of the rules that made it', async () => {
    await sayAll(['One.'])
    await project()
    const edit = (assignment: string) =>
      execute(test.db, `update result_revisions set ${assignment} where call_id = $1`, [
        call.callId,
      ])
    for (const assignment of [
      `content = '{"turns": []}'`,
      `content_hash = '\\x00'`,
      `generated_at = now() + interval '1 day'`,
      'revision = 7',
      'sanitizer_version = 9',
    ])
      await assert.rejects(edit(assignment), /is immutable/, assignment)
    const rows = await execute<{ sanitizer_version: number }>(
      test.db,
      'select sanitizer_version from result_revisions where call_id = $1',
      [call.callId],
    )
    assert.deepEqual(rows, [{ sanitizer_version: 1 }])
    assert.deepEqual(textsOf(await read()), ['One.'])
  })

  it('exists for API calls of the organization only', async () => {
    await sayAll(['One.', 'Two.'])
    await project()
    const { next } = await read(1)
    const elsewhere = { organizationId: other.organizationId, callId: call.callId }
    await assert.rejects(read(1, null, elsewhere), { code: 'resource_not_found' })
    await assert.rejects(read(1, next, elsewhere), { code: 'validation_error' })
    const manual = { ...call, callId: await ours.dial() }
    await assert.rejects(read(1, null, manual), { code: 'resource_not_found' })
  })
})
