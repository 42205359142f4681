import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readWav, writeWav } from '../../../audio/wav.ts'
import { readForm } from '../scripted/request-body.ts'
import { createProviderFetch } from './provider-fetch.ts'
import { json, withServer } from '../../../../tests/support/conversation/scripted-server.ts'
import { createHttpSynthesizer } from './synthesizers/http-synthesizer.ts'
import { createHttpTranscriber } from './transcribers/http-transcriber.ts'
import type { Speech } from './transcribers/transcriber.ts'

const request = createProviderFetch(false)
const { signal } = new AbortController()
const deaf = { onWords() {}, onTurnHint() {}, onLost() {} }

const openTranscriber = async (...settings: Parameters<typeof createHttpTranscriber>) => {
  const transcription = await createHttpTranscriber(...settings).open(deaf, signal)
  return (heard: Speech, aborting: AbortSignal) => transcription.finish(heard, aborting)
}

const speech = { samples: new Int16Array(8_000).fill(500), voicedMs: 600 }

describe('the transcriber', () => {
  it('sends 16 kHz WAV with key, model and language', () =>
    withServer([json({ text: ' Hello there. ' })], async (url, [...received]) => {
      const transcribe = await openTranscriber({ url, key: 'k', model: 'm' }, 'de-DE', request)
      assert.equal(await transcribe(speech, signal), 'Hello there.')
      assert.equal(received.length, 0)
    }))

  it('names the wanted response format in a form', () =>
    withServer([json({ text: 'Hello.' })], async (url, received) => {
      const transcribe = await openTranscriber({ url, key: 'k', model: 'm' }, 'de-DE', request)
      await transcribe(speech, signal)
      const [first] = received
      assert.equal(first?.path, '/v1/audio/transcriptions')
      assert.equal(first.headers.authorization, 'Bearer k')
      const form = readForm(first.body, first.headers['content-type'] ?? '')
      assert.deepEqual(
        ['model', 'language', 'response_format'].map((name) => form?.get(name)?.toString()),
        ['m', 'de', 'verbose_json'],
      )
      const wav = readWav(form?.get('file') ?? Buffer.alloc(0))
      assert.deepEqual([wav.sampleRateHz, wav.samples.length], [16_000, 16_000])
    }))

  it('keeps to the plain response after the detailed one was refused', () =>
    withServer(
      [json({ error: {} }, 422), json({ text: 'One.' }), json({ text: 'Two.' })],
      async (url, received) => {
        const transcribe = await openTranscriber({ url }, 'en', request)
        assert.equal(await transcribe(speech, signal), 'One.')
        assert.equal(await transcribe(speech, signal), 'Two.')
        assert.equal(received.length, 3)
      },
    ))

  it('never sends audio without speech', () =>
    withServer([], async (url, received) => {
      const transcribe = await openTranscriber({ url }, 'en', request)
      assert.equal(await transcribe({ ...speech, voicedMs: 60 }, signal), '')
      assert.equal(received.length, 0)
    }))

  it('drops words of low confidence', () => {
    const segments = [{ no_speech_prob: 0.8, avg_logprob: -1.5 }]
    return withServer([json({ text: 'Thank you.', segments })], async (url) => {
      const transcribe = await openTranscriber({ url }, 'en', request)
      assert.equal(await transcribe(speech, signal), '')
    })
  })

  it('distinguishes a refusal, nonsense and an unreachable server from words', async () => {
    await withServer(
      [json({}, 500), json({}), (response) => void response.end('<html>')],
      async (url) => {
        const transcribe = await openTranscriber({ url }, 'en', request)
        for (const expected of [/answered 500/, /no text/, /not JSON/])
          await assert.rejects(transcribe(speech, signal), expected)
      },
    )
    const nowhere = await openTranscriber({ url: 'http://127.0.0.1:1/v1' }, 'en', request)
    await assert.rejects(nowhere(speech, signal), { code: 'transcription_failed' })
  })
})

/** Eight samples at 8 kHz, between a notes chunk and another one. */
const annotated = (): Buffer => {
  const file = Buffer.from(writeWav(Int16Array.of(1, 2, 3, 4, 5, 6, 7, 8), 8_000))
  const notes = Buffer.concat([Buffer.from('LIST\x05\0\0\0INFOx\0', 'latin1')])
  return Buffer.concat([file.subarray(0, 36), notes, file.subarray(36), notes])
}

const pieces = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]))

/** The header of programs that stream while they write. */
const unbounded = (): Buffer => {
  const file = Buffer.from(writeWav(new Int16Array(16_000), 16_000))
  file.writeUInt32LE(0xffff_ffff, 4)
  file.writeUInt32LE(0xffff_ffff, 40)
  return file
}

const eightBit = (): Buffer => {
  const file = Buffer.from(writeWav(new Int16Array(8), 8_000))
  file.writeUInt16LE(8, 34)
  return file
}

const wavOfASecond: Parameters<typeof withServer>[0][number] = (response) =>
  void response
    .writeHead(200, { 'content-type': 'audio/wav' })
    .end(Buffer.from(writeWav(new Int16Array(16_000), 16_000)))

describe('the speech server', () => {
  const collect = async (url: string): Promise<number> => {
    let samples = 0
    for await (const part of createHttpSynthesizer({ url, voice: 'v' }, request).speak(
      'Hi.',
      signal,
    ))
      samples += part.length
    return samples
  }

  const second = Buffer.alloc(48_000)
  const raw: readonly [string, string, Buffer[], number][] = [
    ['PCM at 24 kHz', 'audio/pcm', [second], 8_000],
    ['PCM in odd pieces', 'audio/pcm', [second.subarray(0, 4_801), second.subarray(4_801)], 8_000],
    ['PCM at a rate it names', 'audio/pcm;rate=16000', [second.subarray(0, 32_000)], 8_000],
    [
      'WAV although PCM was asked for',
      'audio/wav',
      [Buffer.from(writeWav(new Int16Array(16_000), 16_000))],
      8_000,
    ],
    ...[8_000, 11_025, 22_050, 32_000, 44_100, 48_000].map((rateHz): (typeof raw)[number] => [
      `a WAV file at ${rateHz} Hz`,
      'application/octet-stream',
      [Buffer.from(writeWav(new Int16Array(rateHz), rateHz))],
      8_000,
    ]),
    ['stereo', 'audio/wav', [Buffer.from(writeWav(new Int16Array(2 * 22_050), 22_050, 2))], 8_000],
    ['a WAV file byte by byte, with notes around the audio', 'audio/wav', pieces(annotated()), 8],
    ['a WAV file whose length was not known', 'audio/wav', [unbounded()], 8_000],
  ]
  for (const [what, type, chunks, expected] of raw) {
    it(`is understood when it sends ${what}`, () =>
      withServer(
        [
          (response) => {
            response.writeHead(200, { 'content-type': type })
            for (const chunk of chunks) response.write(chunk)
            response.end()
          },
        ],
        async (url, received) => {
          assert.equal(await collect(url), expected)
          assert.deepEqual(JSON.parse(received[0]?.body.toString() ?? ''), {
            model: 'tts-1',
            voice: 'v',
            input: 'Hi.',
            response_format: 'pcm',
          })
        },
      ))
  }

  it('plays only the audio of a file', () =>
    withServer(
      [
        (response) =>
          void response.writeHead(200, { 'content-type': 'audio/wav' }).end(annotated()),
      ],
      async (url) => {
        const heard: number[] = []
        for await (const part of createHttpSynthesizer({ url }, request).speak('Hi.', signal))
          heard.push(...part)
        assert.deepEqual(heard, [1, 2, 3, 4, 5, 6, 7, 8])
      },
    ))

  it('gets requests for files from then on if it makes nothing else', () =>
    withServer(
      [json({ error: 'only wav' }, 400), wavOfASecond, wavOfASecond],
      async (url, received) => {
        const server = createHttpSynthesizer({ url }, request)
        for (let i = 0; i < 2; i += 1) {
          let samples = 0
          for await (const part of server.speak('Hi.', signal)) samples += part.length
          assert.equal(samples, 8_000)
        }
        const formats = received.map(
          ({ body }) =>
            (JSON.parse(body.toString()) as { response_format: string }).response_format,
        )
        assert.deepEqual(formats, ['pcm', 'wav', 'wav'])
      },
    ))

  it('is refused when it sends an error or unplayable data', () =>
    withServer(
      [
        (response) =>
          void response.writeHead(200, { 'content-type': 'audio/pcm;rate=22051' }).end(second),
        json({}, 401),
        json({ error: 'no voice' }),
        (response) => void response.writeHead(200, { 'content-type': 'audio/pcm' }).end(),
        (response) => void response.writeHead(200).end(Buffer.from('ID3\x04and so on')),
        (response) =>
          void response
            .writeHead(200, { 'content-type': 'audio/mpeg' })
            .end(Buffer.from([0xff, 0xf3, 0x44, 0xc4])),
        (response) => void response.writeHead(200).end(eightBit()),
      ],
      async (url) => {
        await assert.rejects(collect(url), /22051 Hz/)
        await assert.rejects(collect(url), { status: 401 })
        await assert.rejects(collect(url), /sent application\/json for audio/)
        await assert.rejects(collect(url), /sent nothing for audio/)
        await assert.rejects(collect(url), /Compressed speech cannot be played/)
        await assert.rejects(collect(url), /Compressed speech cannot be played/)
        await assert.rejects(collect(url), /Only 16-bit PCM/)
      },
    ))

  it('learns when the listener is gone', () => {
    const gone = Promise.withResolvers<void>()
    return withServer(
      [
        (response) => {
          response.on('close', () => gone.resolve())
          response.writeHead(200).write(second)
        },
      ],
      async (url) => {
        for await (const part of createHttpSynthesizer({ url }, request).speak('Hi.', signal)) {
          assert.ok(part.length > 0)
          break
        }
        await gone.promise
      },
    )
  })
})

describe('fetching from a provider', () => {
  it('never reaches a private network when only public hosts are allowed', () =>
    withServer([json({})], async (url, received) => {
      const guarded = createProviderFetch(true)
      for (const address of [url, url.replace('127.0.0.1', 'localhost')])
        await assert.rejects(guarded(address), /private network/)
      assert.equal(received.length, 0)
    }))

  it('sends no key to a redirect', () =>
    withServer(
      [(response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
      async (url) => {
        const answer = await request(url, { headers: { authorization: 'Bearer k' } })
        assert.equal(answer.status, 307)
      },
    ))
})
