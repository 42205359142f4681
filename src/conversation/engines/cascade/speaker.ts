import { encodeG711, g711FrameBytes } from '../../../audio/g711.ts'
import { OutgoingUtterance } from '../../engine/outgoing-utterance.ts'
import type { Phrases } from '../../engine/phrases.ts'
import type { VoiceEvent } from '../../engine/voice-engine.ts'
import type { G711Codec } from '../../../audio/g711.ts'
import { withRetries } from './provider-error.ts'
import type { SpeechCache } from './speech-cache.ts'
import type { SpeechServer } from './speech-server.ts'
import { createVoiceLock } from './voice-lock.ts'
import { BoundedMap } from '../../../runtime/bounded-map.ts'

export interface SpokenUtterance {
  readonly utterance: OutgoingUtterance
  /** Rejects with `ProviderError`, or when the utterance was interrupted. */
  speak(sentence: string): Promise<void>
  /** Lets the next utterance begin. */
  readonly release: () => void
}

interface SpeakerOptions {
  readonly codec: G711Codec
  readonly server: SpeechServer
  readonly cache: SpeechCache
  cacheKey(text: string): string
  readonly phrases: Phrases
  readonly emit: (event: VoiceEvent) => void
  readonly signal: AbortSignal
}

/** Only the last few can still be interrupted. */
const maxTracked = 32
/** 200 ms: audio of a long clip can still be withdrawn before the loop takes it. */
const maxEventBytes = 10 * g711FrameBytes

/** The agent's voice: one utterance after the other, each of one or more sentences. */
export class Speaker {
  readonly #options: SpeakerOptions
  readonly #lock = createVoiceLock()
  readonly #tracked = new BoundedMap<string, OutgoingUtterance>({ maxSize: maxTracked })
  #count = 0
  #isSpeaking = false

  constructor(options: SpeakerOptions) {
    this.#options = options
  }

  /** Begins an utterance once no other is playing. Rejects when the signal aborts first. */
  async begin(signal: AbortSignal): Promise<SpokenUtterance> {
    const giveBack = await this.#lock.take(signal)
    this.#isSpeaking = true
    const utterance = this.#open()
    return {
      utterance,
      speak: (sentence) => this.#speak(utterance, sentence, signal),
      release: () => {
        this.#isSpeaking = false
        giveBack()
      },
    }
  }

  /** Fills a silence at once with a clip, if it is ready and nothing else is playing. */
  fill(): void {
    if (!this.#isSpeaking) this.#playReady(this.#options.phrases.oneMoment)
  }

  /** Speaks the last words of a broken engine. Returns their duration, or 0 if they are not ready. */
  apologise(): number {
    return this.#playReady(this.#options.phrases.technicalTrouble)
  }

  /** Synthesizes the speech now and caches it. Rejects with `ProviderError`. */
  async prepare(text: string, signal: AbortSignal): Promise<void> {
    const { cache, codec } = this.#options
    const key = this.#options.cacheKey(text)
    if (cache.get(key)) return
    const clips: Uint8Array[] = []
    await this.#synthesize(text, signal, (samples) => clips.push(encodeG711(codec, samples)))
    cache.put(key, Buffer.concat(clips))
  }

  prepareInBackground(texts: readonly string[]): void {
    const { signal } = this.#options
    for (const text of texts) void this.prepare(text, signal).catch(() => undefined)
  }

  /** How much audio of an utterance there was. */
  producedMs(utteranceId: string): number {
    return this.#tracked.get(utteranceId)?.producedMs ?? 0
  }

  #open(): OutgoingUtterance {
    const { codec, emit } = this.#options
    this.#count += 1
    const id = `utterance_${this.#count}`
    const utterance = new OutgoingUtterance({ id, codec, emit, maxEventBytes })
    this.#tracked.set(id, utterance)
    return utterance
  }

  async #speak(utterance: OutgoingUtterance, text: string, signal: AbortSignal): Promise<void> {
    const { cache, codec } = this.#options
    const clip = cache.get(this.#options.cacheKey(text))
    utterance.addWords(text)
    if (clip) return utterance.audio(clip)
    await this.#synthesize(text, signal, (samples) => utterance.audio(encodeG711(codec, samples)))
  }

  #playReady(text: string): number {
    const clip = this.#options.cache.get(this.#options.cacheKey(text))
    if (!clip) return 0
    const utterance = this.#open()
    utterance.addWords(text)
    utterance.audio(clip)
    utterance.end()
    return utterance.producedMs
  }

  async #synthesize(
    text: string,
    signal: AbortSignal,
    onSamples: (samples: Int16Array) => void,
  ): Promise<void> {
    let hasBegun = false
    const once = async (): Promise<void> => {
      for await (const samples of this.#options.server.speak(text, signal)) {
        hasBegun = true
        onSamples(samples)
      }
    }
    await withRetries(once, signal, () => !hasBegun)
  }
}
