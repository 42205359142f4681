import { g711FrameBytes } from '../../../audio/g711.ts'
import { OutgoingUtterance } from '../../engine/outgoing-utterance.ts'
import type { Phrases } from '../../engine/phrases.ts'
import type { VoiceEvent } from '../../engine/voice-engine.ts'
import type { G711Codec } from '../../../audio/g711.ts'
import type { SpeechCache } from './speech-cache.ts'
import { PendingSpeech } from './pending-speech.ts'
import type { SpeechSynthesizer } from './synthesizers/synthesizer.ts'
import { createVoiceLock } from './voice-lock.ts'
import { BoundedMap } from '../../../runtime/bounded-map.ts'

export interface SpokenUtterance {
  readonly utterance: OutgoingUtterance
  /**
   * Rejects with `ProviderError`, or when the utterance was interrupted.
   * @param onSound called before its first audio
   */
  speak(speech: PendingSpeech, onSound?: () => void): Promise<void>
  /** Lets the next utterance begin. */
  readonly release: () => void
}

interface SpeakerOptions {
  readonly codec: G711Codec
  readonly synthesizer: SpeechSynthesizer
  readonly cache: SpeechCache
  /** The keys of a clip of these words: of the present voice first, then of the other providers'. */
  cacheKeys(text: string): readonly string[]
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
  #current: OutgoingUtterance | undefined

  constructor(options: SpeakerOptions) {
    this.#options = options
  }

  /** Begins an utterance once no other is playing. Rejects when the signal aborts first. */
  async begin(signal: AbortSignal): Promise<SpokenUtterance> {
    const giveBack = await this.#lock.take(signal)
    const utterance = this.#open()
    this.#current = utterance
    return {
      utterance,
      async speak(speech, onSound) {
        utterance.addWords(speech.text)
        await speech.play((g711) => utterance.audio(g711), onSound)
      },
      release: () => {
        this.#current = undefined
        giveBack()
      },
    }
  }

  /** Speech of this text, whose synthesis begins now, or when it is played. */
  speech(text: string, signal: AbortSignal, beginsNow = false): PendingSpeech {
    const { codec, synthesizer } = this.#options
    const clip = this.#clipOf(text)
    return new PendingSpeech({ text, clip, codec, synthesizer, signal, beginsNow })
  }

  /** Fills a silence at once with a clip, if it is ready and no speech sounds. Returns its duration, or 0. */
  fill(): number {
    const isSounding = this.#current !== undefined && this.#current.producedMs > 0
    return isSounding ? 0 : this.#playReady(this.#options.phrases.oneMoment)
  }

  /** Speaks the last words of a broken engine. Returns their duration, or 0 if they are not ready. */
  apologise(): number {
    return this.#playReady(this.#options.phrases.technicalTrouble)
  }

  /** Synthesizes the speech now and caches it. Rejects with `ProviderError`. */
  async prepare(text: string, signal: AbortSignal): Promise<void> {
    if (this.#clipOf(text)) return
    const clips: Uint8Array[] = []
    await this.speech(text, signal).play((g711) => clips.push(g711))
    // Its voice is the present one: another provider may have taken over meanwhile.
    const [key = text] = this.#options.cacheKeys(text)
    this.#options.cache.put(key, Buffer.concat(clips))
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

  #playReady(text: string): number {
    const clip = this.#clipOf(text)
    if (!clip) return 0
    const utterance = this.#open()
    utterance.addWords(text)
    utterance.audio(clip)
    utterance.end()
    return utterance.producedMs
  }

  #clipOf(text: string): Uint8Array | undefined {
    for (const key of this.#options.cacheKeys(text)) {
      const clip = this.#options.cache.get(key)
      if (clip) return clip
    }
    return undefined
  }
}
