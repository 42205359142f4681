import { createProviderFetch } from '../../conversation/engines/cascade/provider-fetch.ts'
import { createHttpSynthesizer } from '../../conversation/engines/cascade/synthesizers/http-synthesizer.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { InstalledEngines } from '../call/choose-engine.ts'

/** Messages as audio. */
export interface MessageSpeech {
  /** Samples at 8 kHz. Rejects with `ProviderError`, or when the signal aborts. */
  clipOf(text: string, signal: AbortSignal): Promise<Int16Array>
}

interface MessageSpeechOptions {
  /** The speech server of the installation; without one the scripted engine speaks, by Flite. */
  readonly tts: InstalledEngines['tts']
  readonly sandboxUrl: () => string
}

/** An organization has one message; 60 s of each are 1 MB. */
const maxClips = 32
/** Two minutes: slow speech of the longest text. */
const maxSamples = 120 * 8_000

/** Each text is synthesized once and kept, so that only the first caller waits for it. */
export const createMessageSpeech = ({ tts, sandboxUrl }: MessageSpeechOptions): MessageSpeech => {
  const clips = new BoundedMap<string, Int16Array>({ maxSize: maxClips })
  const request = createProviderFetch(false)
  const server = () =>
    createHttpSynthesizer(
      tts.url === undefined
        ? { url: sandboxUrl(), voice: 'slt' }
        : {
            url: tts.url,
            ...(tts.key !== undefined && { key: tts.key }),
            ...(tts.model !== undefined && { model: tts.model }),
            ...(tts.voice !== undefined && { voice: tts.voice }),
          },
      request,
    )
  return {
    clipOf: async (text, signal) => {
      const known = clips.get(text)
      if (known !== undefined) return known
      const parts: Int16Array[] = []
      let length = 0
      for await (const part of server().speak(text, signal)) {
        parts.push(part)
        length += part.length
        if (length >= maxSamples) break
      }
      const clip = new Int16Array(length)
      let at = 0
      for (const part of parts) {
        clip.set(part, at)
        at += part.length
      }
      clips.set(text, clip)
      return clip
    },
  }
}
