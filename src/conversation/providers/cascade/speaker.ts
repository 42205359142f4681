import { encodeG711 } from '../../../audio/g711.ts'
import type { Phrases } from '../../phrases.ts'
import type { Codec, VoiceEvent } from '../../voice-engine.ts'
import { withRetries } from './provider-error.ts'
import type { SpeechCache } from './speech-cache.ts'
import type { SpeechServer } from './speech-server.ts'
import { createUtterance, type Utterance } from './utterance.ts'
import { createVoiceLock } from './voice-lock.ts'

/** The agent's voice: one utterance after the other, each of one or more sentences. */
export interface Speaker {
  /** Waits until nothing else is being said. */
  begin(signal: AbortSignal): Promise<SpokenUtterance>
  /** Says something at once that lies ready, if it does and nothing else is being said. */
  fill(): void
  /** The last thing that is said: how long it takes, or 0 if it does not lie ready. */
  apologise(): number
  /** Makes the speech now, so that it lies ready. Rejects with `ProviderError`. */
  prepare(text: string, signal: AbortSignal): Promise<void>
  prepareInBackground(texts: readonly string[]): void
  /** How much there was of an utterance. */
  producedMs(utteranceId: string): number
}

export interface SpokenUtterance {
  readonly utterance: Utterance
  /** Rejects with `ProviderError`, or when it was interrupted. */
  speak(sentence: string): Promise<void>
  /** Gives the voice back. */
  readonly release: () => void
}

export interface SpeakerOptions {
  readonly codec: Codec
  readonly server: SpeechServer
  readonly cache: SpeechCache
  cacheKey(text: string): string
  readonly phrases: Phrases
  readonly emit: (event: VoiceEvent) => void
  readonly signal: AbortSignal
}

/** Only the last few can still be interrupted. */
const maxTracked = 32

export const createSpeaker = (options: SpeakerOptions): Speaker => {
  const { codec, server, cache, phrases, emit } = options
  const lock = createVoiceLock()
  const tracked = new Map<string, Utterance>()
  let count = 0
  let isSpeaking = false

  const open = (): Utterance => {
    count += 1
    const utterance = createUtterance(`utterance_${count}`, codec, emit)
    tracked.set(utterance.id, utterance)
    const [oldest] = tracked.keys()
    if (tracked.size > maxTracked && oldest !== undefined) tracked.delete(oldest)
    return utterance
  }

  const synthesize = async (
    text: string,
    signal: AbortSignal,
    onSamples: (samples: Int16Array) => void,
  ): Promise<void> => {
    let isBegun = false
    const once = async (): Promise<void> => {
      for await (const samples of server.speak(text, signal)) {
        isBegun = true
        onSamples(samples)
      }
    }
    await withRetries(once, signal, () => !isBegun)
  }

  const prepare = async (text: string, signal: AbortSignal): Promise<void> => {
    const key = options.cacheKey(text)
    if (cache.get(key)) return
    const clips: Uint8Array[] = []
    await synthesize(text, signal, (samples) => clips.push(encodeG711(codec, samples)))
    cache.put(key, Buffer.concat(clips))
  }

  const playReady = (text: string): number => {
    const clip = cache.get(options.cacheKey(text))
    if (!clip) return 0
    const utterance = open()
    utterance.words(text)
    utterance.g711(clip)
    utterance.end()
    return utterance.producedMs
  }

  return {
    async begin(signal) {
      const giveBack = await lock.take(signal)
      isSpeaking = true
      const utterance = open()
      const speak = async (sentence: string): Promise<void> => {
        const clip = cache.get(options.cacheKey(sentence))
        utterance.words(sentence)
        if (clip) return utterance.g711(clip)
        await synthesize(sentence, signal, (samples) => utterance.samples(samples))
      }
      const release = (): void => {
        isSpeaking = false
        giveBack()
      }
      return { utterance, speak, release }
    },
    fill() {
      if (!isSpeaking) playReady(phrases.oneMoment)
    },
    apologise: () => playReady(phrases.technicalTrouble),
    prepare,
    prepareInBackground(texts) {
      for (const text of texts) void prepare(text, options.signal).catch(() => undefined)
    },
    producedMs: (utteranceId) => tracked.get(utteranceId)?.producedMs ?? 0,
  }
}
