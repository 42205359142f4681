import { createResampler, type Resampler } from '../../../audio/resample.ts'
import { ProviderError, withinLimit } from './provider-error.ts'
import type { ServerSettings } from './transcriber.ts'

/** Speaks text by `POST /audio/speech`. */
export interface SpeechServer {
  /** Samples at 8 kHz as they arrive. Throws `ProviderError`. */
  speak(text: string, signal: AbortSignal): AsyncIterable<Int16Array>
}

export interface SpeechSettings extends ServerSettings {
  readonly voice?: string
}

const lineRateHz = 8_000
/** What `pcm` means to OpenAI, Kokoro, Piper and their like. */
const usualRateHz = 24_000
const startLimitMs = 8_000
const pauseLimitMs = 5_000
const maxTextLength = 4_000
/** Four minutes of speech from four thousand characters; what is beyond is a fault. */
const maxSamples = 300 * lineRateHz
const wavHeaderBytes = 44

export const createSpeechServer = (
  { url, key, model = 'tts-1', voice = 'alloy' }: SpeechSettings,
  request: typeof fetch,
): SpeechServer => {
  const ask = (text: string, signal: AbortSignal): Promise<Response> =>
    request(`${url.replace(/\/$/, '')}/audio/speech`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        model,
        voice,
        input: text.slice(0, maxTextLength),
        response_format: 'pcm',
      }),
      signal,
    })

  return {
    async *speak(text, signal) {
      const giveUp = new AbortController()
      const either = AbortSignal.any([signal, giveUp.signal])
      try {
        const asked = ask(text, either)
        const response = await withinLimit(asked, startLimitMs, 'speech_timeout')
        if (!response.ok || !response.body) throw refused(response.status)
        const contentType = response.headers.get('content-type') ?? ''
        if (/^(?:text|application\/(?:\w+\+)?json)\b/i.test(contentType))
          throw notAudio(contentType)
        yield* samplesOf(response.body, contentType)
      } catch (error) {
        if (error instanceof ProviderError || signal.aborted) throw error
        const message = 'The speech server cannot be reached.'
        throw new ProviderError('speech_failed', message, { cause: error })
      } finally {
        giveUp.abort()
      }
    },
  }
}

const refused = (status: number): ProviderError =>
  new ProviderError('speech_failed', `The speech server answered ${status}.`, { status })

/** Played, it would be a click; and a voice that says nothing is none. */
const notAudio = (what: string): ProviderError =>
  new ProviderError('speech_failed', `The speech server sent ${what.slice(0, 100)} for audio.`)

async function* samplesOf(
  body: ReadableStream<Uint8Array>,
  contentType: string,
): AsyncGenerator<Int16Array> {
  const reader = body.getReader()
  let resampler: Resampler | undefined
  let carry = Buffer.alloc(0)
  let samplesOut = 0
  for (;;) {
    const { done, value } = await withinLimit(reader.read(), pauseLimitMs, 'speech_timeout')
    if (done) break
    let bytes = Buffer.concat([carry, value])
    if (!resampler) {
      // Some servers send a WAV file whatever was asked for.
      const isWav = bytes.toString('latin1', 0, 4) === 'RIFF'
      if (isWav && bytes.length < wavHeaderBytes) {
        carry = bytes
        continue
      }
      resampler = resamplerFrom(isWav ? bytes.readUInt32LE(24) : rateOf(contentType))
      if (isWav) bytes = bytes.subarray(wavHeaderBytes)
    }
    const samples = littleEndian(bytes)
    carry = bytes.subarray(samples.length * Int16Array.BYTES_PER_ELEMENT)
    const spoken = resampler.process(samples)
    samplesOut += spoken.length
    if (spoken.length > 0) yield spoken
    if (samplesOut > maxSamples) return reader.cancel()
  }
  if (!resampler) throw notAudio('nothing')
  yield resampler.flush()
}

const resamplerFrom = (rateHz: number): Resampler => {
  try {
    return createResampler(rateHz, lineRateHz)
  } catch (cause) {
    throw new ProviderError('speech_failed', `Speech at ${rateHz} Hz cannot be played.`, {
      cause,
      status: 415,
    })
  }
}

const rateOf = (contentType: string): number => {
  const rate = /rate=(\d{4,6})/.exec(contentType)?.[1]
  return rate === undefined ? usualRateHz : Number(rate)
}

const littleEndian = (bytes: Buffer): Int16Array => {
  const samples = new Int16Array(bytes.length >> 1)
  for (let index = 0; index < samples.length; index += 1) {
    samples[index] = bytes.readInt16LE(index * Int16Array.BYTES_PER_ELEMENT)
  }
  return samples
}
