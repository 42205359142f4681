import { decodeG711 } from '../../../../audio/g711.ts'
import { parseObject } from '../../realtime/protocol.ts'
import { ProviderError } from '../provider-error.ts'
import { socketUrl } from '../providers/base-url.ts'
import type { ProviderSettings } from '../providers/provider-settings.ts'
import { cutText, SampleFeed } from './sample-feed.ts'
import { SharedLine } from './shared-line.ts'
import type { SpeechSynthesizer } from './synthesizer.ts'

const deepgramBase = 'wss://api.deepgram.com'

/** Deepgram's `/v1/speak`: texts of one connection are spoken in turn, each up to its `Flushed`. */
export const createAuraSynthesizer = (settings: ProviderSettings): SpeechSynthesizer => {
  const { key, voice, model } = settings
  /** In the order of their texts; a text that was given up stays until its end. */
  const feeds: SampleFeed[] = []

  const failAll = (error: ProviderError): void => {
    for (const feed of feeds.splice(0)) feed.fail(error)
  }
  const read = (text: string): void => {
    const message = parseObject(text)
    if (!message) return failAll(failure('what is not JSON', 415))
    if (message.type === 'Flushed') feeds.shift()?.end()
    if (message.type === 'Error') failAll(failure('an error', undefined))
  }
  const line = new SharedLine({
    settings,
    // Its voices are models.
    url: socketUrl(settings.url ?? deepgramBase, '/v1/speak', {
      model: voice ?? model ?? 'aura-2-thalia-en',
      encoding: 'mulaw',
      sample_rate: '8000',
    }),
    headers: key === undefined ? {} : { authorization: `Token ${key}` },
    listener: {
      onText: read,
      onBytes: (bytes) => feeds[0]?.push(decodeG711('pcmu', bytes)),
      onLost: failAll,
    },
  })

  return {
    warm: () => line.warm(),
    close: () => line.close({ type: 'Close' }),
    async *speak(text, signal) {
      const socket = await line.socket()
      const feed = new SampleFeed()
      feeds.push(feed)
      socket.send({ type: 'Speak', text: cutText(text) })
      socket.send({ type: 'Flush' })
      try {
        yield* feed.samples(signal)
      } finally {
        // Audio names no text: what was given up must not be taken for the next text.
        if (feeds.includes(feed)) {
          failAll(failure('nothing more', undefined))
          line.renew()
        }
      }
    },
  }
}

const failure = (what: string, status: number | undefined): ProviderError =>
  new ProviderError(
    'speech_failed',
    `The synthesizer sent ${what}.`,
    status === undefined ? {} : { status },
  )
