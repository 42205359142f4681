import { parseObject } from '../../realtime/protocol.ts'
import { ProviderError } from '../provider-error.ts'
import { plainLanguage, socketUrl } from '../providers/base-url.ts'
import { stringOf } from '../providers/members.ts'
import type { ProviderSettings } from '../providers/provider-settings.ts'
import { cutText, SampleFeed } from './sample-feed.ts'
import { samplesOfPcm } from './samples-of-pcm.ts'
import { SharedLine } from './shared-line.ts'
import type { SpeechSynthesizer } from './synthesizer.ts'

const cartesiaBase = 'wss://api.cartesia.ai'
const apiVersion = '2026-03-01'
/** One of Cartesia's public voices. */
const usualVoice = 'a0e99841-438c-4a64-b679-ae501e7d6091'

/** Cartesia's `/tts/websocket`: each text is a context of one connection. */
export const createCartesiaSynthesizer = (
  settings: ProviderSettings,
  language: string,
): SpeechSynthesizer => {
  const { model = 'sonic-3', voice = usualVoice, key } = settings
  const feeds = new Map<string, SampleFeed>()
  let texts = 0

  const read = (text: string): void => {
    const message = parseObject(text)
    if (!message) return failAll(notUnderstood())
    const id = stringOf(message.context_id)
    const feed = feeds.get(id)
    if (message.type === 'error') {
      const error = failure(message.status_code)
      // An error without a context is of the whole connection.
      return id === '' ? failAll(error) : feed?.fail(error)
    }
    if (message.type === 'chunk')
      feed?.push(samplesOfPcm(Buffer.from(stringOf(message.data), 'base64')))
    if (message.type === 'done') feed?.end()
  }
  const failAll = (error: ProviderError): void => {
    for (const feed of feeds.values()) feed.fail(error)
  }
  const line = new SharedLine({
    settings,
    url: socketUrl(settings.url ?? cartesiaBase, '/tts/websocket', {
      cartesia_version: apiVersion,
    }),
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    listener: { onText: read, onLost: failAll },
  })

  return {
    warm: () => line.warm(),
    close: () => line.close(),
    async *speak(text, signal) {
      const socket = await line.socket()
      texts += 1
      const id = `text-${texts}`
      const feed = new SampleFeed()
      feeds.set(id, feed)
      let isWhole = false
      try {
        socket.send({
          model_id: model,
          transcript: cutText(text),
          voice: { mode: 'id', id: voice },
          language: plainLanguage(language),
          context_id: id,
          output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 8_000 },
          continue: false,
        })
        yield* feed.samples(signal)
        isWhole = true
      } finally {
        feeds.delete(id)
        if (!isWhole) socket.send({ context_id: id, cancel: true })
      }
    },
  }
}

const failure = (code: unknown): ProviderError => {
  const status = typeof code === 'number' ? code : 500
  return new ProviderError('speech_failed', `The synthesizer answered ${status}.`, { status })
}

const notUnderstood = (): ProviderError =>
  new ProviderError('speech_failed', 'The synthesizer sent what is not JSON.', { status: 415 })
