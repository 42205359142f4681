import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { g711FrameBytes, g711Silence } from '../../../audio/g711.ts'
import { silentLogger } from '../../../runtime/logger.ts'
import type { EngineUsage, VoiceEvent, VoiceSession } from '../../engine/voice-engine.ts'
import { createRealtimeEngine } from './realtime-engine.ts'
import {
  azure,
  inworld,
  openAi,
  qwenOmni,
  xAi,
} from '../../../../tests/support/conversation/rows/cloud-rows.ts'
import {
  localAi,
  speaches,
  speechToSpeech,
  vllmOmni,
} from '../../../../tests/support/conversation/rows/own-rows.ts'
import { calleeWords, replies } from '../../../../tests/support/conversation/rows/row-session.ts'
import {
  startRowServer,
  type RowServer,
} from '../../../../tests/support/conversation/rows/row-server.ts'
import type { ServerRow } from '../../../../tests/support/conversation/rows/server-row.ts'
import { toneG711, toneInG711 } from '../../../../tests/support/conversation/rows/tones.ts'
import { until } from '../../../../tests/support/until.ts'

const rows: readonly ServerRow[] = [
  openAi,
  azure,
  xAi,
  inworld,
  speaches,
  localAi,
  speechToSpeech,
  qwenOmni,
  vllmOmni,
]

const codec = 'pcmu'
const greeting = 'Hello, this is Ann.'
const eventLimitMs = 60_000
/** A server hears the start of speech a little late, and audio goes to it in messages of 100 ms. */
const toleranceMs = 700

const tools = [
  { name: 'look_up', description: 'Finds an order.', parameters: { type: 'object' } },
  { name: 'end_call', description: 'Ends the call.', parameters: { type: 'object' } },
]

type EventOf<T extends VoiceEvent['type']> = VoiceEvent & { readonly type: T }

/** The callee's side of one conversation with a row. */
class Callee {
  readonly events: VoiceEvent[] = []
  readonly #session: VoiceSession
  readonly #server: RowServer
  #fedMs = 0
  #isOver = false

  constructor(session: VoiceSession, server: RowServer) {
    this.#session = session
    this.#server = server
    void this.#collect()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  async #collect(): Promise<void> {
    for await (const event of this.#session.events) this.events.push(event)
    this.#isOver = true
  }

  /** Feeds it at the server's pace, as a telephone line does. */
  async #feed(g711: Uint8Array): Promise<void> {
    for (let at = 0; at + g711FrameBytes <= g711.length; at += g711FrameBytes) {
      this.#session.hear(g711.subarray(at, at + g711FrameBytes))
      this.#fedMs += 20
      if (this.#fedMs % 200 !== 0) continue
      await until(
        'the server to hear the line',
        () => (this.#server.sessions.at(-1)?.heardMs ?? 0) >= this.#fedMs - 200 || undefined,
        { everyMs: 1, timeoutMs: eventLimitMs },
      )
    }
  }

  /** Says one of its words; returns when the speech began. */
  async say(word: number): Promise<number> {
    await this.#feed(g711Silence(codec, 40 * g711FrameBytes))
    const atMs = this.#fedMs
    await this.#feed(toneG711(word, codec))
    await this.#feed(g711Silence(codec, 40 * g711FrameBytes))
    return atMs
  }

  /** The first event from here on that fits. */
  async heard<T extends VoiceEvent['type']>(
    type: T,
    from = 0,
    fits: (event: EventOf<T>) => boolean = () => true,
  ): Promise<EventOf<T>> {
    return until(
      `${type} (so far: ${this.events.map((event) => event.type).join(' ')})`,
      () => {
        const found = this.events
          .slice(from)
          .find((event) => event.type === type && fits(event as EventOf<T>))
        if (!found && this.#isOver) throw new Error(`The events ended before ${type}.`)
        return found as EventOf<T> | undefined
      },
      { everyMs: 2, timeoutMs: eventLimitMs },
    )
  }

  audioOf(utteranceId: string): Uint8Array {
    return Buffer.concat(
      this.events.flatMap((event) =>
        event.type === 'audio' && event.utteranceId === utteranceId ? [event.g711] : [],
      ),
    )
  }
}

const withRow = async (
  row: ServerRow,
  work: (callee: Callee, session: VoiceSession, server: RowServer) => Promise<void>,
): Promise<EngineUsage> => {
  const server = await startRowServer(row)
  try {
    const engine = createRealtimeEngine({ url: server.url, ...row.settings, logger: silentLogger })
    const options = {
      callId: 'rows',
      codec,
      instructions: 'You are Ann.',
      greeting,
      language: 'en-US',
      tools,
    } as const
    const session = await engine.open(options, AbortSignal.timeout(eventLimitMs))
    await work(new Callee(session, server), session, server)
    const usage = await session.close()
    await until('the socket to close', () => server.openSockets === 0 || undefined)
    return usage
  } finally {
    server.close()
  }
}

/** Words, reply and tone of one turn. */
const takeTurn = async (callee: Callee, row: ServerRow, word: number): Promise<number> => {
  const from = callee.events.length
  const atMs = await callee.say(word)
  const start = await callee.heard('speech_start', from)
  await callee.heard('speech_stop', from)
  assert.ok(
    Math.abs(start.atMs - atMs) < toleranceMs,
    `speech began at ${atMs} and was reported at ${start.atMs}`,
  )
  if (row !== vllmOmni) {
    const words = await callee.heard('contact_text', from)
    assert.equal(words.text, calleeWords[word])
    assert.equal(words.startMs, start.atMs)
  }
  return from
}

const replyOf = async (callee: Callee, from: number, word: number): Promise<void> => {
  const said = await callee.heard('agent_text', from, ({ text }) => text === replies[word])
  await callee.heard('audio_end', from, ({ utteranceId }) => utteranceId === said.utteranceId)
  assert.equal(toneInG711(callee.audioOf(said.utteranceId), codec), word)
}

for (const row of rows) {
  describe(`the realtime engine with ${row.name}`, () => {
    it('holds four turns, a tool call, a barge-in and a hang-up', async () => {
      const usage = await withRow(row, async (callee, session, server) => {
        const hello = await callee.heard('agent_text')
        assert.equal(hello.text, greeting)
        await callee.heard('audio_end')
        assert.equal(toneInG711(callee.audioOf(hello.utteranceId), codec), 0)

        await replyOf(callee, await takeTurn(callee, row, 0), 0)

        const second = await takeTurn(callee, row, 1)
        const call = await callee.heard('tool_call', second)
        assert.deepEqual([call.name, call.arguments], ['look_up', { order: 7 }])
        session.toolResult(call.id, { found: true })
        await replyOf(callee, second, 1)
        assert.equal(callee.events.filter(({ type }) => type === 'tool_call').length, 1)

        const third = await takeTurn(callee, row, 2)
        const story = await callee.heard('audio', third)
        session.interrupt(story.utteranceId, 200)
        const cut = callee.audioOf(story.utteranceId).length

        const fourth = await takeTurn(callee, row, 3)
        await replyOf(callee, fourth, 3)
        const end = await callee.heard('tool_call', fourth)
        assert.equal(end.name, 'end_call')
        session.toolResult(end.id, { ended: true }, false)
        assert.equal(callee.audioOf(story.utteranceId).length, cut)
        assert.equal(server.sessions.length, 1, 'it needed another session')
        assert.deepEqual(server.sessions[0]?.state.tools, ['look_up', 'end_call'])
        assert.deepEqual(
          callee.events.filter((event) => event.type === 'error' && event.fatal),
          [],
        )
      })
      assert.ok(usage.audioInMs > 8_000)
      assert.ok(usage.audioOutMs > 3_000)
      if (row.usage) assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0)
    })
  })
}
