import { isRefusal, ProviderError, refusalOf, withinLimit } from '../provider-error.ts'
import type { ServerSettings } from '../providers/provider-settings.ts'
import { createSpeechDecoder, notAudio } from './speech-decoder.ts'
import type { SpeechSynthesizer } from './synthesizer.ts'

interface SpeechSettings extends ServerSettings {
  readonly voice?: string
}

const startLimitMs = 8_000
const pauseLimitMs = 5_000
const maxTextLength = 4_000
/** Four minutes of speech from four thousand characters; more is an error. */
const maxSamples = 300 * 8_000

/** Synthesizes text by `POST /audio/speech`. */
export const createHttpSynthesizer = (
  { url, key, model = 'tts-1', voice = 'alloy' }: SpeechSettings,
  request: typeof fetch,
): SpeechSynthesizer => {
  // Some servers make only files.
  let format: 'pcm' | 'wav' = 'pcm'

  const askFor = (format: string, text: string, signal: AbortSignal): Promise<Response> =>
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
        response_format: format,
      }),
      signal,
    })

  const ask = async (text: string, signal: AbortSignal): Promise<Response> => {
    const response = await askFor(format, text, signal)
    if (format === 'wav' || !isRefusal(response.status)) return response
    await response.body?.cancel()
    const second = await askFor('wav', text, signal)
    if (second.ok) format = 'wav'
    return second
  }

  return {
    warm() {},
    close() {},
    async *speak(text, signal) {
      const giveUp = new AbortController()
      const either = AbortSignal.any([signal, giveUp.signal])
      try {
        const asked = ask(text, either)
        const response = await withinLimit(asked, startLimitMs, 'speech_timeout')
        if (!response.ok || !response.body) throw refused(response)
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

const refused = ({ status, headers }: Response): ProviderError =>
  new ProviderError(
    'speech_failed',
    `The speech server answered ${status}.`,
    refusalOf(status, headers.get('retry-after')),
  )

async function* samplesOf(
  body: ReadableStream<Uint8Array>,
  contentType: string,
): AsyncGenerator<Int16Array> {
  const reader = body.getReader()
  const decoder = createSpeechDecoder(contentType)
  let samplesOut = 0
  for (;;) {
    const { done, value } = await withinLimit(reader.read(), pauseLimitMs, 'speech_timeout')
    if (done) break
    const spoken = decoder.decode(value)
    samplesOut += spoken.length
    if (spoken.length > 0) yield spoken
    if (samplesOut > maxSamples) return reader.cancel()
  }
  yield decoder.end()
}
