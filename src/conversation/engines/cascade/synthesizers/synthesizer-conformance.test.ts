import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type {
  ProviderFault,
  ScriptedProvider,
} from '../../../../../tests/support/conversation/providers/scripted-provider.ts'
import {
  startSynthesizer,
  synthesizerNames,
  synthesizerSettings,
} from '../../../../../tests/support/conversation/providers/scripted-synthesizers.ts'
import { ProviderError } from '../provider-error.ts'
import type { SynthesizerKind } from '../../../../contract/provider-kinds.ts'
import { createSpeechSynthesizer } from './create-synthesizer.ts'
import type { SpeechSynthesizer } from './synthesizer.ts'

/** Each synthesizer passes the same suite, against a server that behaves as its provider documents. */
const never = new AbortController().signal

const withSynthesizer = async (
  kind: SynthesizerKind,
  work: (synthesizer: SpeechSynthesizer, server: ScriptedProvider) => Promise<void>,
  fault?: ProviderFault,
): Promise<void> => {
  const server = await startSynthesizer(kind)
  server.fault = fault
  const synthesizer = createSpeechSynthesizer(synthesizerSettings(kind, server), 'en-US')
  try {
    await work(synthesizer, server)
  } finally {
    synthesizer.close()
    server.stop()
  }
}

const msOf = async (
  synthesizer: SpeechSynthesizer,
  text: string,
  signal: AbortSignal = never,
): Promise<number> => {
  let samples = 0
  let loudest = 0
  for await (const piece of synthesizer.speak(text, signal)) {
    samples += piece.length
    for (const sample of piece) loudest = Math.max(loudest, Math.abs(sample))
  }
  assert.ok(loudest > 1_000, 'it is audible')
  return samples / 8
}

for (const kind of synthesizerNames)
  describe(`the synthesizer ${kind}`, { timeout: 120_000 }, () => {
    it('speaks one text after the other, whole', () =>
      withSynthesizer(kind, async (synthesizer) => {
        synthesizer.warm()
        assert.equal(await msOf(synthesizer, 'Twelve chars'), 120)
        assert.equal(await msOf(synthesizer, 'Then twenty letters.'), 200)
      }))

    it('keeps apart texts that are under way together', () =>
      withSynthesizer(kind, async (synthesizer) => {
        const both = ['Twelve chars', 'Then twenty letters.'].map((text) => msOf(synthesizer, text))
        assert.deepEqual(await Promise.all(both), [120, 200])
      }))

    it('leaves nothing of a text that was given up for the next one', () =>
      withSynthesizer(kind, async (synthesizer) => {
        const giveUp = new AbortController()
        const heard = synthesizer.speak('This is never said to its end.', giveUp.signal)
        await heard[Symbol.asyncIterator]().next()
        giveUp.abort()
        await assert.rejects(msOf(synthesizer, 'No.', giveUp.signal))
        assert.equal(await msOf(synthesizer, 'Twelve chars'), 120)
      }))

    it('sends the key in a header only', () =>
      withSynthesizer(kind, async (synthesizer, server) => {
        await msOf(synthesizer, 'Twelve chars')
        const [{ authorization, 'xi-api-key': key } = {}] = server.headers
        assert.match(String(key ?? authorization), /^(?:Bearer |Token )?secret-key$/)
        assert.ok(!server.requests.join().includes('secret-key'))
      }))

    for (const [fault, status] of [
      ['expired_key', 401],
      ['throttled', 429],
      ['throttled_with_time', 429],
      ['broken', 500],
    ] as const)
      it(`has the status ${status} for ${fault}`, () =>
        withSynthesizer(
          kind,
          async (synthesizer) => {
            await assert.rejects(msOf(synthesizer, 'No.'), (error) => {
              assert.ok(error instanceof ProviderError)
              assert.equal(error.status, status)
              if (fault === 'throttled_with_time') assert.equal(error.retryAfterMs, 2_000)
              assert.ok(!/secret-key/.test(error.message))
              return true
            })
          },
          fault,
        ))
  })

describe('a synthesizer whose provider fails', { timeout: 240_000, concurrency: true }, () => {
  for (const kind of synthesizerNames)
    for (const fault of ['slow', 'half_open', 'cut', 'wrong_format'] as const)
      it(`${kind}: ${fault} ends in an error, not in silence`, () =>
        withSynthesizer(
          kind,
          async (synthesizer) => {
            await assert.rejects(msOf(synthesizer, 'Twelve chars'), ProviderError)
          },
          fault,
        ))
})

for (const kind of synthesizerNames.filter((each) => each !== 'openai-tts'))
  it(`${kind} connects again after the connection was lost`, { timeout: 120_000 }, () =>
    withSynthesizer(kind, async (synthesizer, server) => {
      assert.equal(await msOf(synthesizer, 'Twelve chars'), 120)
      server.drop(1011)
      // A text that meets the loss fails; the next one has a connection of its own.
      await msOf(synthesizer, 'Twelve chars').catch(() => undefined)
      assert.equal(await msOf(synthesizer, 'Then twenty letters.'), 200)
    }),
  )
