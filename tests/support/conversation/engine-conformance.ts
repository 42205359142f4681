import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { g711FrameBytes, g711Silence } from '../../../src/audio/g711.ts'
import { builtInTools } from '../../../src/conversation/tools/tools.ts'
import type {
  VoiceEngine,
  VoiceEvent,
  VoiceSession,
} from '../../../src/conversation/engine/voice-engine.ts'
import type { G711Codec } from '../../../src/audio/g711.ts'

/** The conformance suite that runs against every engine. */
export interface ConformanceSubject {
  /** Opens nothing yet: each test calls it after the engine's servers have been started. */
  engine(): VoiceEngine
  /** Speech of a callee, G.711, to which the engine replies with a turn and the tool `end_call`. */
  farewell(codec: G711Codec): Uint8Array
  readonly farewellText: string
}

const greeting = 'Hello, this is Ann from Acme Dental. How are you today?'
const eventLimitMs = 10_000

const open = (engine: VoiceEngine, codec: G711Codec): Promise<VoiceSession> =>
  engine.open(
    {
      callId: 'conformance',
      codec,
      instructions: 'You are Ann of Acme Dental.',
      greeting,
      language: 'en-US',
      tools: builtInTools(['achieved', 'inconclusive']),
    },
    AbortSignal.timeout(eventLimitMs),
  )

/** Takes events until one matches; fails when they end or none comes in time. */
const createReader = (session: VoiceSession) => {
  const iterator = session.events[Symbol.asyncIterator]()
  const seen: VoiceEvent[] = []
  const until = async (fits: (event: VoiceEvent) => boolean): Promise<VoiceEvent> => {
    for (;;) {
      const limit = AbortSignal.timeout(eventLimitMs)
      const late = new Promise<never>((_, reject) => {
        limit.addEventListener('abort', () => reject(new Error('No such event came.')))
      })
      const result = await Promise.race([iterator.next(), late])
      if (result.done) throw new Error('The events have ended.')
      seen.push(result.value)
      if (fits(result.value)) return result.value
    }
  }
  return { seen, until, next: () => iterator.next() }
}

const feed = (session: VoiceSession, codec: G711Codec, speech: Uint8Array): void => {
  const silence = g711Silence(codec, 100 * g711FrameBytes)
  for (const sound of [silence.subarray(0, 20 * g711FrameBytes), speech, silence]) {
    for (let at = 0; at + g711FrameBytes <= sound.length; at += g711FrameBytes) {
      session.hear(sound.subarray(at, at + g711FrameBytes))
    }
  }
}

const audioMs = (events: readonly VoiceEvent[], utteranceId?: string): number =>
  events.reduce((sum, event) => {
    if (event.type !== 'audio') return sum
    return utteranceId && utteranceId !== event.utteranceId ? sum : sum + event.g711.length / 8
  }, 0)

export const describeVoiceEngine = (name: string, subject: ConformanceSubject): void => {
  describe(`the voice engine ${name}`, { concurrency: true }, () => {
    for (const codec of ['pcmu', 'pcma'] as const) {
      it(`speaks the greeting in ${codec}, in whole frames, word for word`, async () => {
        const session = await open(subject.engine(), codec)
        const reader = createReader(session)
        await reader.until((event) => event.type === 'audio_end')
        if (!reader.seen.some(({ type }) => type === 'agent_text')) {
          await reader.until((event) => event.type === 'agent_text')
        }
        const text = reader.seen.find((event) => event.type === 'agent_text')
        assert.equal(text?.text, greeting)
        assert.ok(audioMs(reader.seen) > 2_000)
        for (const event of reader.seen) {
          if (event.type === 'audio') assert.equal(event.g711.length % g711FrameBytes, 0)
        }
        const usage = await session.close()
        assert.ok(Math.abs(usage.audioOutMs - audioMs(reader.seen)) < 20)
      })

      it(`hears ${codec}, tells what was said and when, and calls a tool`, async () => {
        const session = await open(subject.engine(), codec)
        const reader = createReader(session)
        await reader.until((event) => event.type === 'audio_end')
        feed(session, codec, subject.farewell(codec))
        const started = await reader.until((event) => event.type === 'speech_start')
        assert.ok(started.type === 'speech_start' && started.atMs >= 0 && started.atMs < 1_500)
        const words = await reader.until((event) => event.type === 'contact_text')
        assert.ok(words.type === 'contact_text')
        assert.equal(words.text, subject.farewellText)
        assert.equal(words.startMs, started.atMs)
        const tool = await reader.until((event) => event.type === 'tool_call')
        assert.ok(tool.type === 'tool_call' && tool.name === 'end_call')
        session.toolResult(tool.id, { ended: true }, false)
        const usage = await session.close()
        assert.ok(usage.audioInMs > 2_000)
      })
    }

    it('sends nothing more of an interrupted utterance, and speaks again when asked', async () => {
      const session = await open(subject.engine(), 'pcmu')
      const reader = createReader(session)
      const first = await reader.until((event) => event.type === 'audio')
      assert.ok(first.type === 'audio')
      // Far more than was ever spoken: the server must never receive this number.
      session.interrupt(first.utteranceId, 3_600_000)
      session.say('One more thing.')
      const again = await reader.until(
        (event) => event.type === 'audio' && event.utteranceId !== first.utteranceId,
      )
      assert.ok(again.type === 'audio')
      await reader.until(
        (event) => event.type === 'audio_end' && event.utteranceId === again.utteranceId,
      )
      const errors = reader.seen.filter(({ type }) => type === 'error')
      assert.deepEqual(errors, [])
      assert.ok(audioMs(reader.seen, first.utteranceId) < 2_000)
      await session.close()
    })

    it('says several texts one after the other and loses none', async () => {
      const session = await open(subject.engine(), 'pcmu')
      const reader = createReader(session)
      session.say('The first.')
      session.say('The second.')
      const texts: string[] = []
      while (texts.length < 3) {
        const event = await reader.until(({ type }) => type === 'agent_text')
        if (event.type === 'agent_text') texts.push(event.text)
      }
      assert.deepEqual(texts, [greeting, 'The first.', 'The second.'])
      await session.close()
    })

    it('ends its events when closed, within two seconds, and stays closed', async () => {
      const session = await open(subject.engine(), 'pcmu')
      const reader = createReader(session)
      await reader.until((event) => event.type === 'audio')
      const closed = await Promise.all([session.close(), session.close()])
      assert.deepEqual(closed[0], closed[1])
      for (let result = await reader.next(); !result.done;) result = await reader.next()
      session.hear(g711Silence('pcmu'))
      session.say('Nobody hears this.')
      session.interrupt('nothing', 0)
      session.toolResult('nothing', null)
      assert.equal((await reader.next()).done, true)
    })

    it('does not open when its signal is aborted', async () => {
      const options = {
        callId: 'conformance',
        codec: 'pcmu',
        instructions: '',
        greeting: '',
        language: 'en',
        tools: [],
      } as const
      await assert.rejects(subject.engine().open(options, AbortSignal.abort(new Error('no'))), /no/)
    })
  })
}
