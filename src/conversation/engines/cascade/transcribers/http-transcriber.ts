import { resample } from '../../../../audio/resample.ts'
import { writeWav } from '../../../../audio/wav.ts'
import { isRefusal, ProviderError, refusalOf, withinLimit } from '../provider-error.ts'
import type { ServerSettings } from '../providers/provider-settings.ts'
import { isHallucination } from './hallucinations.ts'
import type { Speech, Transcriber, TranscriptionListener, Transcription } from './transcriber.ts'

/** The words of a whole speech; empty if there were none. Rejects with `ProviderError`. */
type Transcribe = (speech: Speech, signal: AbortSignal) => Promise<string>

const lineRateHz = 8_000
/** The sample rate that Whisper and similar models were trained on; some servers accept nothing else. */
const wireRateHz = 16_000
const limitMs = 8_000
const maxAnswerLength = 256 * 1024
/** A click or a breath; the shortest "no" is longer. */
const leastVoicedMs = 100

/** Transcribes speech by `POST /audio/transcriptions`, once it pauses. */
export const createHttpTranscriber = (
  settings: ServerSettings,
  language: string,
  request: typeof fetch,
): Transcriber => {
  const transcribe = createTranscribe(settings, language, request)
  return { open: (listener) => Promise.resolve(new HttpTranscription(transcribe, listener)) }
}

/** One request at a time: what a pause requested is the result if the speech does not go on. */
class HttpTranscription implements Transcription {
  readonly #transcribe: Transcribe
  readonly #listener: TranscriptionListener
  #words = ''
  #asked: { readonly voicedMs: number; readonly words: Promise<string> } | undefined
  #abort = new AbortController()

  constructor(transcribe: Transcribe, listener: TranscriptionListener) {
    this.#transcribe = transcribe
    this.#listener = listener
  }

  get words(): string {
    return this.#words
  }

  hear(): void {}

  replay(): void {}

  hurry(speech: Speech): void {
    if (this.#asked?.voicedMs === speech.voicedMs) return
    this.#drop()
    const { signal } = this.#abort
    const words = this.#transcribe(speech, signal)
    const asked = { voicedMs: speech.voicedMs, words }
    this.#asked = asked
    words.then(
      (text) => {
        // The speech went on, or is over: its words belong to no pause any more.
        if (this.#asked !== asked) return
        this.#words = text
        this.#listener.onWords()
      },
      // `finish` rejects with it, or asks again.
      () => undefined,
    )
  }

  async finish(speech: Speech, signal: AbortSignal): Promise<string> {
    const asked = this.#asked
    this.#asked = undefined
    this.#words = ''
    if (asked?.voicedMs === speech.voicedMs) return asked.words
    this.#drop()
    return this.#transcribe(speech, signal)
  }

  close(): void {
    this.#abort.abort()
  }

  #drop(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
    this.#asked = undefined
    this.#words = ''
  }
}

const createTranscribe = (
  { url, key, model = 'whisper-1' }: ServerSettings,
  language: string,
  request: typeof fetch,
): Transcribe => {
  // The detailed response contains the model's confidence. Servers that do not support it refuse it once.
  let format = model.startsWith('gpt-') ? 'json' : 'verbose_json'

  const ask = async (wav: Uint8Array, signal: AbortSignal): Promise<Response> => {
    const fields = { model, language: language.split('-')[0] ?? 'en', response_format: format }
    const { body, contentType } = multipart({ ...fields, temperature: '0' }, wav)
    return request(`${url.replace(/\/$/, '')}/audio/transcriptions`, {
      method: 'POST',
      headers: {
        'content-type': contentType,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body,
      signal,
    })
  }

  const transcribe = async (speech: Speech, signal: AbortSignal): Promise<string> => {
    const wav = writeWav(resample(speech.samples, lineRateHz, wireRateHz), wireRateHz)
    let response = await ask(wav, signal)
    if (isRefusal(response.status) && format !== 'json') {
      format = 'json'
      await response.body?.cancel()
      response = await ask(wav, signal)
    }
    const text = (await response.text()).slice(0, maxAnswerLength)
    if (!response.ok) {
      const message = `The transcription server answered ${response.status}.`
      const refusal = refusalOf(response.status, response.headers.get('retry-after'))
      throw new ProviderError('transcription_failed', message, refusal)
    }
    return wordsOf(text, speech)
  }

  return async (speech, signal) => {
    if (speech.voicedMs < leastVoicedMs) return ''
    const giveUp = new AbortController()
    const either = AbortSignal.any([signal, giveUp.signal])
    const code = 'transcription_timeout'
    try {
      return await withinLimit(transcribe(speech, either), limitMs, code, () => giveUp.abort())
    } catch (error) {
      if (error instanceof ProviderError || signal.aborted) throw error
      const message = 'The transcription server cannot be reached.'
      throw new ProviderError('transcription_failed', message, { cause: error })
    }
  }
}

interface TranscriptionBody {
  readonly text?: unknown
  readonly segments?: readonly {
    readonly no_speech_prob?: unknown
    readonly avg_logprob?: unknown
  }[]
}

const wordsOf = (body: string, { voicedMs }: Speech): string => {
  let answer: TranscriptionBody
  try {
    answer = JSON.parse(body) as TranscriptionBody
  } catch (cause) {
    throw new ProviderError('transcription_failed', 'The transcription is not JSON.', { cause })
  }
  if (typeof answer.text !== 'string') {
    throw new ProviderError('transcription_failed', 'The transcription holds no text.')
  }
  const [segment] = answer.segments ?? []
  const text = answer.text.trim()
  return isHallucination(text, {
    voicedMs,
    noSpeechProbability: numberOr(segment?.no_speech_prob),
    meanLogProbability: numberOr(segment?.avg_logprob),
  })
    ? ''
    : text
}

const numberOr = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined

/** RFC 7578, with the one file that this needs. */
const multipart = (
  fields: Readonly<Record<string, string>>,
  wav: Uint8Array,
): { readonly body: Uint8Array<ArrayBuffer>; readonly contentType: string } => {
  const boundary = 'outdial-8f3a61c0d2b94e57'
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file =
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="speech.wav"\r\n` +
    `content-type: audio/wav\r\n\r\n`
  const body = Buffer.concat([
    Buffer.from(parts.join('') + file),
    wav,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  return { body, contentType: `multipart/form-data; boundary=${boundary}` }
}
