import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createCallingOrganization, queueCalls } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { costOf, parsePriceTable } from './price-table.ts'
import { insertTurnLatencies, insertUsage, listTurnLatencies, listUsage } from './usage-store.ts'

describe('the price of a model', () => {
  const prices = parsePriceTable({
    tokens: { input_tokens_per_million: 4, output_tokens_per_million: 16 },
    minutes: { audio_in_per_minute: 0.06, audio_out_per_minute: 0.24 },
  })
  const used = { inputTokens: 1_000, outputTokens: 500, audioInMs: 120_000, audioOutMs: 30_000 }

  it('is counted by tokens, by minutes, or not at all', () => {
    assert.equal(costOf(prices['tokens'], used), 12_000)
    assert.equal(costOf(prices['minutes'], used), 240_000)
    assert.equal(costOf(prices['unknown'], used), undefined)
  })

  it('is counted by kind of token where the kinds have prices, and by the whole where not', () => {
    const byKind = parsePriceTable({
      voice: {
        input_tokens_per_million: 4,
        cached_input_tokens_per_million: 1,
        audio_input_tokens_per_million: 32,
        cached_audio_input_tokens_per_million: 2,
        output_tokens_per_million: 16,
        audio_output_tokens_per_million: 64,
      },
      whole: { input_tokens_per_million: 4, output_tokens_per_million: 16 },
    })
    const kinds = {
      inputTokens: 1_000,
      audioInputTokens: 600,
      cachedInputTokens: 300,
      cachedAudioInputTokens: 100,
      outputTokens: 500,
      audioOutputTokens: 400,
      audioInMs: 0,
      audioOutMs: 0,
    }
    const input = 200 * 4 + 200 * 1 + 500 * 32 + 100 * 2
    assert.equal(costOf(byKind['voice'], kinds), input + 100 * 16 + 400 * 64)
    assert.equal(costOf(byKind['whole'], kinds), 1_000 * 4 + 500 * 16)
    // Parts beyond the whole cost nothing more.
    const absurd = { ...kinds, audioInputTokens: 9_000, cachedInputTokens: 9_000 }
    assert.equal(costOf(byKind['whole'], absurd), 1_000 * 4 + 500 * 16)
  })

  it('is refused if it is malformed', () => {
    for (const table of [
      [],
      { m: 3 },
      { m: { input_tokens_per_million: -1 } },
      { m: { price: 1 } },
    ])
      assert.throws(() => parsePriceTable(table))
  })
})

describe('the usage of a call', () => {
  let test: TestDatabase
  before(async () => {
    test = await createTestDatabase()
  })
  after(() => test.drop())

  const someCall = async () => {
    const organization = await createCallingOrganization(test.db)
    const [call] = await queueCalls(test.db, organization, 1)
    assert.ok(call)
    return { organizationId: organization.organizationId, callId: call.id }
  }

  const usage = {
    engine: 'realtime',
    provider: 'api.example',
    model: 'm',
    inputTokens: 10,
    outputTokens: 20,
    audioInputTokens: 6,
    cachedInputTokens: 3,
    cachedAudioInputTokens: 2,
    audioOutputTokens: 15,
    audioInMs: 30.4,
    audioOutMs: 40,
    costMicrousd: 5,
    firstWordsMs: 140,
  }

  it('is stored once for the conversation, and added up for its summaries', async () => {
    const call = await someCall()
    for (const purpose of ['conversation', 'conversation', 'summary', 'summary'] as const)
      await insertUsage(test.db, call, { ...usage, purpose })
    const rows = await listUsage(test.db, call)
    assert.deepEqual(
      rows.map(({ purpose, input_tokens, cost_microusd }) => [
        purpose,
        input_tokens,
        cost_microusd,
      ]),
      [
        ['conversation', 10, 5],
        ['summary', 20, 10],
      ],
    )
    assert.equal(rows[0]?.audio_in_ms, 30)
    const [kinds] = rows
    assert.deepEqual(
      [kinds?.audio_input_tokens, kinds?.cached_input_tokens, kinds?.cached_audio_input_tokens],
      [6, 3, 2],
    )
    assert.equal(kinds?.audio_output_tokens, 15)
    assert.equal(rows[1]?.cached_input_tokens, 6)
  })

  it('is stored turn by turn in time', async () => {
    const call = await someCall()
    const latency = {
      audioOffsetMs: 1_900,
      endpointingMs: 520,
      transcriptionMs: null,
      modelMs: 380,
      speechMs: null,
      ownMs: 12,
      totalMs: 912,
    }
    await insertTurnLatencies(test.db, call, [])
    await insertTurnLatencies(test.db, call, [latency, { ...latency, audioOffsetMs: 9_000 }])
    await insertTurnLatencies(test.db, call, [{ ...latency, ownMs: 99 }])
    assert.deepEqual(
      (await listTurnLatencies(test.db, call)).map((row) => [row.audio_offset_ms, row.own_ms]),
      [
        [1_900, 12],
        [9_000, 12],
      ],
    )
  })
})
