import assert from 'node:assert/strict'
import { afterEach, describe, it, mock } from 'node:test'
import type { ModelMessage } from 'ai'
import { g711FrameBytes } from '../../../audio/g711.ts'
import type { VoiceActivityDetector } from '../../../audio/voice-activity.ts'
import { silentLogger } from '../../../runtime/logger.ts'
import { phrasesFor } from '../../engine/phrases.ts'
import type { VoiceEvent } from '../../engine/voice-engine.ts'
import { CascadeSession } from './cascade-session.ts'
import type { ReplyPart } from './chat-model.ts'
import { ProviderError } from './provider-error.ts'
import { createGuessBudget } from './guess-budget.ts'
import { Lineup } from './providers/lineup.ts'
import { createProviderHealth } from './providers/provider-health.ts'
import { createSpeechCache } from './speech-cache.ts'
import type { Transcriber } from './transcribers/transcriber.ts'

afterEach(() => mock.timers.reset())

/** A model that the test controls: its requests and its replies. */
interface Asked {
  readonly messages: readonly ModelMessage[]
  readonly signal: AbortSignal
  tell(...parts: ReplyPart[]): void
  end(): void
  fail(error: Error): void
}

/** A lineup of one. */
const alone = (provider: Transcriber): Lineup<Transcriber> =>
  new Lineup([{ settings: { name: 'a', id: 'a', kind: 'openai-stt' }, provider }], {
    stage: 'stt',
    health: createProviderHealth(),
    onTrouble() {},
  })

const text = (words: string): ReplyPart => ({ type: 'text', text: words })

const createBench = async ({ transcribe }: { transcribe?: () => Promise<string> } = {}) => {
  const asked: Asked[] = []
  const words: string[] = []
  let wakeAsked = (): void => {}
  let isVoiced = false
  const spoken: string[] = []
  const voiceActivity: VoiceActivityDetector = { isVoiced: () => isVoiced, close: () => {} }

  const transcription = { words: '', changed: (): void => {} }
  const session = new CascadeSession({
    transcribers: alone({
      open: (listener) => {
        transcription.changed = () => listener.onWords()
        return Promise.resolve({
          get words() {
            return transcription.words
          },
          hear() {},
          replay() {},
          hurry() {},
          finish: transcribe ?? (() => Promise.resolve(words.shift() ?? '')),
          close() {},
        })
      },
    }),
    budget: createGuessBudget(),
    model: {
      async *reply(messages, signal) {
        const queue: (ReplyPart | Error | undefined)[] = []
        let wake = (): void => {}
        const push = (item: ReplyPart | Error | undefined): void => {
          queue.push(item)
          wake()
        }
        signal.addEventListener('abort', () => push(new Error('aborted')))
        asked.push({
          messages,
          signal,
          tell: (...parts) => parts.forEach(push),
          end: () => push(undefined),
          fail: push,
        })
        wakeAsked()
        for (;;) {
          if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve))
          if (queue.length === 0) continue
          const item = queue.shift()
          if (item === undefined) return
          if (item instanceof Error) throw item
          yield item
        }
      },
    },
    synthesizer: {
      warm() {},
      close() {},
      async *speak(sentence, signal) {
        spoken.push(sentence)
        signal.throwIfAborted()
        yield new Int16Array(sentence.length * 400).fill(1_000)
      },
    },
    cache: createSpeechCache(),
    cacheKeys: (sentence) => [sentence],
    voiceActivity,
    options: {
      callId: 'c',
      codec: 'pcmu',
      instructions: 'Be kind.',
      greeting: 'Hello.',
      language: 'en',
      tools: [],
    },
    logger: silentLogger,
  })

  const events: VoiceEvent[] = []
  let wakeEvents = (): void => {}
  const reading = (async () => {
    for await (const event of session.events) {
      events.push(event)
      wakeEvents()
    }
    wakeEvents()
  })()

  const until = async <T>(find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        wakeEvents = resolve
        wakeAsked = resolve
      })
    }
  }
  const run = (ms: number, voiced = false): void => {
    isVoiced = voiced
    for (let at = 0; at < ms; at += 20) session.hear(new Uint8Array(g711FrameBytes).fill(0xff))
  }
  await session.begin(new AbortController().signal)
  return {
    session,
    asked,
    spoken,
    events,
    reading,
    run,
    until,
    /** The transcriber shows these words while they are spoken. */
    show: (shown: string) => {
      transcription.words = shown
      transcription.changed()
    },
    finishWith: (...said: string[]) => words.push(...said),
    /** The callee says this: half a second of speech and the silence after it. */
    hear: (...said: string[]) => {
      words.push(...said)
      run(500, true)
      run(520)
    },
    nextAsked: (index: number) => until(() => asked[index]),
    textOf: (utteranceId: string) =>
      until(() =>
        events.find((event) => event.type === 'agent_text' && event.utteranceId === utteranceId),
      ),
    settle: () => new Promise<void>((resolve) => setImmediate(resolve)),
  }
}

const contents = (messages: readonly ModelMessage[]): string[] =>
  messages.map(({ role, content }) => `${role}: ${JSON.stringify(content)}`)

describe('a cascade session', () => {
  it('speaks words, and not the Markdown marks around them', async () => {
    const { session, asked, spoken, until, hear, nextAsked, settle } = await createBench()
    await settle()
    hear('What is there?')
    const question = await nextAsked(0)
    question.tell(text('**Sure!** There is *one* thing.\n\n---\n'))
    question.end()
    await until(() => spoken.find((words) => words.includes('thing')))
    assert.deepEqual(spoken.slice(-1), ['Sure! There is one thing.'])
    assert.equal(asked.length, 1)
    await session.close()
  })

  it('replies to what was said, knowing what was said before', async () => {
    const bench = await createBench()
    await bench.textOf('utterance_1')
    bench.hear('Who is this?')
    const asked = await bench.nextAsked(0)
    assert.deepEqual(contents(asked.messages), [
      'assistant: [{"type":"text","text":"Hello."}]',
      'user: "Who is this?"',
    ])
    asked.tell(text('This is Ann from Acme. '), text('How are you?'))
    asked.end()
    await bench.textOf('utterance_2')
    assert.deepEqual(
      bench.events.flatMap((event) =>
        event.type === 'audio' ? [] : [event.type === 'agent_text' ? event.text : event.type],
      ),
      [
        'audio_end',
        'Hello.',
        'speech_start',
        'speech_stop',
        'contact_text',
        'first_words',
        'audio_end',
        'This is Ann from Acme. How are you?',
      ],
    )
    assert.deepEqual(bench.spoken.slice(-2), ['This is Ann from Acme.', 'How are you?'])
    await bench.session.close()
  })

  it('aborts the request when it is interrupted, and remembers only what was heard', async () => {
    const bench = await createBench()
    await bench.textOf('utterance_1')
    bench.hear('Tell me everything.')
    const first = await bench.nextAsked(0)
    first.tell(text('The first thing is this one here. '), text('And then '))
    const audio = await bench.until(() =>
      bench.events.find((event) => event.type === 'audio' && event.utteranceId === 'utterance_2'),
    )
    assert.ok(audio.type === 'audio')
    await bench.settle()
    bench.session.interrupt('utterance_2', 800)
    assert.ok(first.signal.aborted)
    bench.hear('Stop.')
    const second = await bench.nextAsked(1)
    assert.deepEqual(contents(second.messages).slice(1), [
      'user: "Tell me everything."',
      'assistant: [{"type":"text","text":"The first thing…"}]',
      'user: "Stop."',
    ])
    await bench.session.close()
  })

  it('asks the model again when the callee speaks on before the reply is heard', async () => {
    const bench = await createBench()
    bench.hear('I would like')
    const first = await bench.nextAsked(0)
    bench.hear('a new appointment.')
    const second = await bench.nextAsked(1)
    assert.ok(first.signal.aborted)
    assert.deepEqual(contents(second.messages).slice(-2), [
      'user: "I would like"',
      'user: "a new appointment."',
    ])
    await bench.session.close()
  })

  it('continues when the tools have results, and stops when told to', async () => {
    const bench = await createBench()
    bench.hear('Is it there?')
    const first = await bench.nextAsked(0)
    first.tell({ type: 'tool_call', id: 't1', name: 'look_up', arguments: { x: 1 } })
    first.end()
    const call = await bench.until(() => bench.events.find(({ type }) => type === 'tool_call'))
    assert.deepEqual(call, { type: 'tool_call', id: 't1', name: 'look_up', arguments: { x: 1 } })
    bench.session.say('One moment, please.')
    await bench.textOf('utterance_2')
    bench.session.toolResult('t1', { found: true })
    const second = await bench.nextAsked(1)
    const [asked, answered] = contents(second.messages).slice(-3)
    assert.match(asked ?? '', /tool-call.*t1/)
    assert.match(answered ?? '', /tool-result.*found.*true/)
    second.tell(text('Goodbye then.'), {
      type: 'tool_call',
      id: 't2',
      name: 'end_call',
      arguments: {},
    })
    second.end()
    await bench.until(() =>
      bench.events.find((event) => event.type === 'tool_call' && event.id === 't2'),
    )
    const ends = bench.events.findIndex((event) => event.type === 'tool_call' && event.id === 't2')
    assert.ok(bench.events.slice(0, ends).some((event) => event.type === 'agent_text'))
    bench.session.toolResult('t2', { ended: true }, false)
    await bench.settle()
    assert.equal(bench.asked.length, 2)
    await bench.session.close()
  })

  it('asks nothing after speech without words', async () => {
    const bench = await createBench()
    bench.hear('')
    await bench.until(() => bench.events.find(({ type }) => type === 'contact_text'))
    await bench.settle()
    assert.equal(bench.asked.length, 0)
    await bench.session.close()
  })

  it('asks a model that failed once again', async () => {
    const bench = await createBench()
    bench.hear('Hello?')
    const first = await bench.nextAsked(0)
    first.fail(new ProviderError('model_failed', 'The model answered 503.', { status: 503 }))
    const second = await bench.nextAsked(1)
    second.tell(text('Yes, I am here.'))
    second.end()
    await bench.textOf('utterance_2')
    await bench.session.close()
  })

  it('retries at the time that the server gives, unless that is too late', async () => {
    const bench = await createBench()
    await bench.textOf('utterance_1')
    await bench.settle()
    const busy = (retryAfterMs: number): ProviderError =>
      new ProviderError('model_failed', 'The model answered 429.', { status: 429, retryAfterMs })
    bench.hear('Hello?')
    for (const index of [0, 1]) (await bench.nextAsked(index)).fail(busy(10))
    const third = await bench.nextAsked(2)
    third.tell(text('Yes, I am here.'))
    third.end()
    await bench.textOf('utterance_2')
    bench.hear('And now?')
    const fourth = await bench.nextAsked(3)
    fourth.fail(busy(60_000))
    const apology = await bench.textOf('utterance_3')
    assert.ok(apology.type === 'agent_text' && apology.text === phrasesFor('en').technicalTrouble)
    assert.equal(bench.asked.length, 4)
    await bench.session.close()
  })

  it('ends an interrupted utterance, so that the apology is heard after it', async () => {
    const bench = await createBench()
    await bench.textOf('utterance_1')
    await bench.settle()
    bench.hear('Hello?')
    const asked = await bench.nextAsked(0)
    asked.tell(text('This was said. And this'))
    await bench.until(() => bench.spoken.find((sentence) => sentence === 'This was said.'))
    const gone = new ProviderError('model_failed', 'The model cannot be reached.')
    asked.fail(gone)
    const continued = await bench.nextAsked(1)
    assert.match(contents(continued.messages).at(-1) ?? '', /Continue where your last words end/)
    continued.fail(gone)
    await bench.textOf('utterance_3')
    const ends = bench.events.flatMap((event) =>
      event.type === 'audio_end' ? event.utteranceId : [],
    )
    assert.deepEqual(ends, ['utterance_1', 'utterance_2', 'utterance_3'])
    const said = await bench.textOf('utterance_2')
    assert.ok(said.type === 'agent_text' && said.text === 'This was said.')
    bench.run(4_000)
    await bench.settle()
    assert.ok(!bench.events.some(({ type }) => type === 'error'))
    bench.run(2_000)
    await bench.reading
    assert.equal(bench.events.at(-1)?.type, 'error')
    await bench.session.close()
  })

  it('fills a long silence, then apologises, and ends after the apology', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const bench = await createBench()
    await bench.textOf('utterance_1')
    await bench.settle()
    bench.hear('Hello?')
    const first = await bench.nextAsked(0)
    mock.timers.tick(2_000)
    const filler = await bench.textOf('utterance_2')
    assert.ok(filler.type === 'agent_text' && filler.text === phrasesFor('en').oneMoment)
    first.fail(new ProviderError('model_failed', 'The model answered 401.', { status: 401 }))
    const apology = await bench.textOf('utterance_3')
    assert.ok(apology.type === 'agent_text')
    assert.equal(apology.text, phrasesFor('en').technicalTrouble)
    const isFatal = (): boolean => bench.events.some(({ type }) => type === 'error')
    bench.run(2_000)
    await bench.settle()
    assert.equal(isFatal(), false)
    bench.run(4_000)
    await bench.reading
    assert.ok(isFatal())
    const last = bench.events.at(-1)
    assert.ok(last?.type === 'error' && last.fatal && last.code === 'model_failed')
    await bench.session.close()
  })

  it('asks to repeat when words are lost once, and gives up when they are lost twice', async () => {
    const bench = await createBench({
      transcribe: () =>
        Promise.reject(new ProviderError('transcription_failed', 'No.', { status: 400 })),
    })
    bench.hear('')
    await bench.until(() => bench.spoken.find((sentence) => sentence === phrasesFor('en').pardon))
    bench.hear('')
    await bench.until(() =>
      bench.events.find(
        (event) => event.type === 'agent_text' && event.text === phrasesFor('en').technicalTrouble,
      ),
    )
    bench.run(10_000)
    await bench.reading
    assert.equal(bench.events.at(-1)?.type, 'error')
    await bench.session.close()
  })

  it('asks at a pause, and lets nothing be heard before the turn has ended', async () => {
    const bench = await createBench()
    await bench.textOf('utterance_1')
    bench.show('Who is this?')
    bench.run(500, true)
    bench.run(120)
    const asked = await bench.nextAsked(0)
    assert.equal(contents(asked.messages).at(-1), 'user: "Who is this?"')
    asked.tell(text('This is Ann from Acme. '))
    asked.end()
    // Nothing is emitted while the reply is only a guess.
    while (!bench.spoken.includes('This is Ann from Acme.')) await bench.settle()
    await bench.settle()
    assert.ok(!bench.events.some(({ type }) => type === 'first_words'))
    bench.finishWith('who is this')
    bench.run(400)
    await bench.textOf('utterance_2')
    assert.equal(bench.asked.length, 1)
    await bench.session.close()
  })

  it('throws a guessed reply away when the speech goes on, and asks about all of it', async () => {
    const bench = await createBench()
    await bench.textOf('utterance_1')
    bench.show('I would like that')
    bench.run(500, true)
    bench.run(280)
    const guess = await bench.nextAsked(0)
    guess.tell(text('Good. '), { type: 'tool_call', id: 't', name: 'end_call', arguments: {} })
    guess.end()
    bench.run(300, true)
    assert.ok(guess.signal.aborted)
    bench.finishWith('I would like that on Tuesday')
    bench.run(520)
    const asked = await bench.nextAsked(1)
    assert.deepEqual(contents(asked.messages).slice(1), ['user: "I would like that on Tuesday"'])
    assert.ok(!bench.events.some(({ type }) => type === 'tool_call' || type === 'first_words'))
    await bench.session.close()
  })

  it('asks again when the final words are others than the guessed ones', async () => {
    const bench = await createBench()
    await bench.textOf('utterance_1')
    bench.show('On Thursday')
    bench.run(500, true)
    bench.run(120)
    await bench.settle()
    assert.equal(bench.asked.length, 0, 'no sentence ends there')
    bench.run(160)
    const guess = await bench.nextAsked(0)
    bench.finishWith('On Tuesday.')
    bench.run(400)
    const asked = await bench.nextAsked(1)
    assert.ok(guess.signal.aborted)
    assert.equal(contents(asked.messages).at(-1), 'user: "On Tuesday."')
    await bench.session.close()
  })

  it('ends every request when it is closed', async () => {
    const bench = await createBench()
    bench.hear('Hello?')
    const asked = await bench.nextAsked(0)
    const usage = await bench.session.close()
    assert.ok(asked.signal.aborted)
    assert.equal(usage.audioInMs, 1_020)
    await bench.reading
  })
})
