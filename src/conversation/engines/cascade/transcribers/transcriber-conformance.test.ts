import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { g711FrameBytes, g711Silence } from '../../../../audio/g711.ts'
import type {
  ProviderFault,
  ScriptedProvider,
} from '../../../../../tests/support/conversation/providers/scripted-provider.ts'
import {
  startTranscriber,
  transcriberNames,
  transcriberSettings,
  type TranscriberName,
} from '../../../../../tests/support/conversation/providers/scripted-transcribers.ts'
import { ProviderError } from '../provider-error.ts'
import { createTranscriber } from './create-transcriber.ts'
import type { Speech, Transcription, TurnHint } from './transcriber.ts'

/** Each transcriber passes the same suite, against a server that behaves as its provider documents. */
const { signal } = new AbortController()
const loud = new Uint8Array(g711FrameBytes).fill(0x10)
const quiet = g711Silence('pcmu')
const speechOf = (ms: number): Speech => ({
  samples: new Int16Array(ms * 8).fill(8_000),
  voicedMs: ms,
})

const createEars = () => {
  const hints: TurnHint[] = []
  const lost = Promise.withResolvers<Error>()
  let wake = (): void => {}
  let count = 0
  const listener = {
    onWords() {
      count += 1
      wake()
    },
    onTurnHint: (hint: TurnHint) => void hints.push(hint),
    onLost: (error: Error) => lost.resolve(error),
  }
  /** The words, once they are these. */
  const untilWords = async (transcription: Transcription, words: string): Promise<void> => {
    while (transcription.words !== words) await new Promise<void>((resolve) => (wake = resolve))
  }
  return { listener, hints, lost: lost.promise, untilWords, counted: () => count }
}

const say = (transcription: Transcription, ms: number): void => {
  for (let at = 0; at < ms; at += 20) transcription.hear(loud, true)
}
const pause = (transcription: Transcription, ms: number): void => {
  for (let at = 0; at < ms; at += 20) transcription.hear(quiet, true)
}

const withTranscriber = async (
  name: TranscriberName,
  stretches: readonly string[],
  work: (
    transcription: Transcription,
    ears: ReturnType<typeof createEars>,
    server: ScriptedProvider,
  ) => Promise<void>,
): Promise<void> => {
  const server = await startTranscriber(name, { stretches, wordMs: 60 })
  const ears = createEars()
  try {
    const spoken = { language: 'en-US', codec: 'pcmu' } as const
    const transcriber = createTranscriber(transcriberSettings(name, server), spoken)
    const transcription = await transcriber.open(ears.listener, signal)
    try {
      await work(transcription, ears, server)
    } finally {
      transcription.close()
    }
  } finally {
    server.stop()
  }
}

const streaming = transcriberNames.filter((name) => name !== 'openai-stt')
/** OpenAI's model writes when the audio is committed. */
const early = streaming.filter((name) => name !== 'openai-stt-stream')

for (const name of transcriberNames)
  describe(`the transcriber ${name}`, { timeout: 120_000 }, () => {
    it('writes down one stretch of speech after the other', () =>
      withTranscriber(name, ['I would like that.', 'On Tuesday please.'], async (heard) => {
        for (const words of ['I would like that.', 'On Tuesday please.']) {
          say(heard, 400)
          pause(heard, 500)
          assert.equal(await heard.finish(speechOf(400), signal), words)
        }
      }))

    it('hurries at a pause, and goes on if the speech does', () =>
      withTranscriber(name, ['I would like', 'to come on Tuesday.'], async (heard, ears) => {
        say(heard, 400)
        pause(heard, 200)
        heard.hurry(speechOf(400))
        await ears.untilWords(heard, 'I would like')
        if (name === 'openai-stt') return
        say(heard, 400)
        pause(heard, 500)
        const words = await heard.finish(speechOf(800), signal)
        assert.equal(words, 'I would like to come on Tuesday.')
      }))

    it('sends the key in the way of its provider, and never in the address', () =>
      withTranscriber(name, ['Yes.'], async (heard, _, server) => {
        say(heard, 400)
        pause(heard, 500)
        await heard.finish(speechOf(400), signal)
        assert.match(String(server.headers[0]?.authorization), /^(?:Bearer |Token )?secret-key$/)
        assert.ok(!server.requests.join().includes('secret-key'))
      }))

    it('shows no words of the speech before', () =>
      withTranscriber(name, ['I would like that.', 'Yes.'], async (heard) => {
        say(heard, 400)
        pause(heard, 500)
        heard.hurry(speechOf(400))
        await heard.finish(speechOf(400), signal)
        await new Promise((resolve) => setImmediate(resolve))
        assert.equal(heard.words, '')
      }))

    it('reports no words for noise', () =>
      withTranscriber(name, [''], async (heard) => {
        say(heard, 400)
        pause(heard, 500)
        assert.equal(await heard.finish(speechOf(400), signal), '')
      }))
  })

for (const name of early)
  it(`${name} shows words while they are spoken`, { timeout: 120_000 }, () =>
    withTranscriber(name, ['I would like that.'], async (heard, ears) => {
      say(heard, 400)
      await ears.untilWords(heard, 'I would like that.')
      assert.ok(ears.counted() > 1)
    }),
  )

for (const name of streaming)
  describe(`the connection of ${name}`, { timeout: 120_000 }, () => {
    it('hears again the speech that it has missed', () =>
      withTranscriber(name, ['I would like that.'], async (heard) => {
        const samples = new Int16Array(900 * 8)
        samples.fill(8_000, 0, 400 * 8)
        heard.replay({ samples, voicedMs: 400 })
        const words = await heard.finish({ samples, voicedMs: 400 }, signal)
        assert.equal(words, 'I would like that.')
      }))

    it('reports its loss once, and no words after it', () =>
      withTranscriber(name, ['Yes.'], async (heard, ears, server) => {
        server.drop(1011)
        assert.match((await ears.lost).message, /closed the connection with 1011/)
        await assert.rejects(heard.finish(speechOf(400), signal), ProviderError)
      }))
  })

it('Flux tells when a turn may be over', { timeout: 120_000 }, () =>
  withTranscriber('deepgram-flux', ['Yes please.'], async (heard, ears) => {
    say(heard, 400)
    pause(heard, 300)
    await ears.untilWords(heard, 'Yes please.')
    await heard.finish(speechOf(400), signal)
    assert.ok(ears.hints.includes('maybe_over'))
  }),
)

const statusOf: Partial<Record<ProviderFault, number>> = {
  expired_key: 401,
  throttled: 429,
  throttled_with_time: 429,
  broken: 500,
}

describe('a transcriber whose provider fails', { timeout: 240_000, concurrency: true }, () => {
  for (const name of transcriberNames)
    for (const [fault, status] of Object.entries(statusOf))
      it(`${name}: ${fault} has the status ${status}`, async () => {
        const server = await startTranscriber(name, { stretches: ['Yes.'] })
        server.fault = fault as ProviderFault
        try {
          const spoken = { language: 'en', codec: 'pcmu' } as const
          const transcriber = createTranscriber(transcriberSettings(name, server), spoken)
          const words = async () =>
            (await transcriber.open(createEars().listener, signal)).finish(speechOf(400), signal)
          await assert.rejects(words, (error) => {
            assert.ok(error instanceof ProviderError)
            assert.equal(error.status, status)
            if (fault === 'throttled_with_time') assert.equal(error.retryAfterMs, 2_000)
            assert.ok(!/secret-key/.test(error.message))
            return true
          })
        } finally {
          server.stop()
        }
      })

  for (const name of transcriberNames)
    for (const fault of ['slow', 'half_open', 'cut', 'wrong_format'] as const)
      it(`${name}: ${fault} ends in an error, not in silence`, async () => {
        const server = await startTranscriber(name, { stretches: ['Yes.'] })
        server.fault = fault
        const spoken = { language: 'en', codec: 'pcmu' } as const
        const transcriber = createTranscriber(transcriberSettings(name, server), spoken)
        const words = async (): Promise<string> => {
          const heard = await transcriber.open(createEars().listener, signal)
          say(heard, 400)
          pause(heard, 500)
          try {
            return await heard.finish(speechOf(400), signal)
          } finally {
            heard.close()
          }
        }
        try {
          const isQuiet = fault === 'slow' && name === 'deepgram-nova'
          // Nova confirms nothing for silence, so a mute server that answers pings has heard no words.
          if (isQuiet) assert.equal(await words(), '')
          else await assert.rejects(words, ProviderError)
        } finally {
          server.stop()
        }
      })
})
