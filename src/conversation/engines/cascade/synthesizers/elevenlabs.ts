import { decodeG711 } from '../../../../audio/g711.ts'
import { parseObject } from '../../realtime/protocol.ts'
import { ProviderError } from '../provider-error.ts'
import { plainLanguage, socketUrl } from '../providers/base-url.ts'
import type { ProviderSettings } from '../providers/provider-settings.ts'
import { openProviderSocket, type ProviderSocket } from '../providers/provider-socket.ts'
import { stringOf } from '../providers/members.ts'
import { cutText, SampleFeed } from './sample-feed.ts'
import type { SpeechSynthesizer } from './synthesizer.ts'

const elevenlabsBase = 'wss://api.elevenlabs.io'
/** One of the voices that every account has. */
const usualVoice = 'JBFqnCBsd6RMkjVDRZzb'
/** The longest that ElevenLabs keeps an unused connection, in seconds. */
const inactivitySeconds = '180'
/** These models take a language; others refuse it. */
const modelsWithLanguage = /^eleven_(?:flash|turbo)_v2_5$/

/** A connection for one text, with the feed of its audio. */
interface Line {
  readonly socket: ProviderSocket
  readonly feed: SampleFeed
}

/**
 * ElevenLabs' `stream-input`. A connection speaks one text, because only its end is marked; the next connection is opened
 * while the text is spoken.
 */
export const createElevenlabsSynthesizer = (
  settings: ProviderSettings,
  language: string,
): SpeechSynthesizer => {
  const closing = new AbortController()
  let spare: Promise<Line> | undefined

  const openLine = async (): Promise<Line> => {
    const feed = new SampleFeed()
    const socket = await openProviderSocket(
      {
        url: addressOf(settings, language),
        headers: settings.key === undefined ? {} : { 'xi-api-key': settings.key },
        publicHostsOnly: settings.publicHostsOnly === true,
        code: 'speech_failed',
        who: 'The synthesizer',
        listener: {
          onText: (text) => read(text, feed),
          onLost: (error) => {
            feed.fail(error)
            // An unused connection ends after its time: the next text opens another.
            forget(feed)
          },
        },
      },
      closing.signal,
    )
    return { socket, feed }
  }
  let spareFeed: SampleFeed | undefined
  const forget = (feed: SampleFeed): void => {
    if (spareFeed === feed) spare = undefined
  }
  const warm = (): void => {
    if (spare || closing.signal.aborted) return
    const opening = openLine()
    spare = opening
    opening.then(
      ({ feed }) => {
        if (spare === opening) spareFeed = feed
      },
      () => {
        if (spare === opening) spare = undefined
      },
    )
  }

  return {
    warm,
    async *speak(text, signal) {
      const taken = spare ?? openLine()
      spare = undefined
      spareFeed = undefined
      const { socket, feed } = await taken
      warm()
      try {
        socket.send({ text: ' ' })
        socket.send({ text: `${cutText(text)} ` })
        socket.send({ text: '' })
        yield* feed.samples(signal)
      } finally {
        socket.close()
      }
    },
    close() {
      closing.abort()
      void spare?.then(({ socket }) => socket.close()).catch(() => undefined)
      spare = undefined
    },
  }
}

const addressOf = (
  { url, model = 'eleven_flash_v2_5', voice = usualVoice }: ProviderSettings,
  language: string,
): URL =>
  socketUrl(url ?? elevenlabsBase, `/v1/text-to-speech/${encodeURIComponent(voice)}/stream-input`, {
    model_id: model,
    output_format: 'ulaw_8000',
    // Whole sentences come, so nothing is gained by collecting text.
    auto_mode: 'true',
    inactivity_timeout: inactivitySeconds,
    language_code: modelsWithLanguage.test(model) ? plainLanguage(language) : undefined,
  })

const read = (text: string, feed: SampleFeed): void => {
  const message = parseObject(text)
  if (!message) return feed.fail(failure('', 415))
  const problem = stringOf(message.error)
  if (problem !== '') return feed.fail(failure(problem, statusOf(problem)))
  const audio = stringOf(message.audio)
  if (audio !== '') feed.push(decodeG711('pcmu', Buffer.from(audio, 'base64')))
  if (message.isFinal === true) feed.end()
}

const statusOf = (problem: string): number => {
  if (/api_key|auth|permission/i.test(problem)) return 401
  if (/rate|quota|too_many|busy/i.test(problem)) return 429
  return /internal|server/i.test(problem) ? 500 : 400
}

const failure = (problem: string, status: number): ProviderError =>
  new ProviderError(
    'speech_failed',
    `The synthesizer reported ${/^[a-z_]{1,60}$/.test(problem) ? problem : 'an error'}.`,
    { status },
  )
