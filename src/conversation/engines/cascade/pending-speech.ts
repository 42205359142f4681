import { encodeG711, type G711Codec } from '../../../audio/g711.ts'
import { withRetries } from './provider-error.ts'
import type { SpeechSynthesizer } from './synthesizers/synthesizer.ts'

interface PendingSpeechOptions {
  readonly text: string
  /** The finished speech, if it is known. */
  readonly clip: Uint8Array | undefined
  readonly codec: G711Codec
  readonly synthesizer: SpeechSynthesizer
  readonly signal: AbortSignal
  readonly beginsNow: boolean
}

/** A sentence that broke off is said once more from its beginning, by the next provider if there is one. */
const maxRepeats = 1

/** Speech of one text that may be synthesized before it is played. */
export class PendingSpeech {
  readonly text: string
  readonly #options: PendingSpeechOptions
  #pieces: Uint8Array[] = []
  #synthesis: Promise<void> | undefined
  #wake = (): void => {}

  constructor(options: PendingSpeechOptions) {
    this.text = options.text
    this.#options = options
    if (options.beginsNow && !options.clip) void this.#begin()
  }

  /**
   * Plays what comes, until the end. Rejects with `ProviderError`, or with the signal's reason.
   * @param onSound called before the first piece
   */
  async play(onPiece: (g711: Uint8Array) => void, onSound = (): void => {}): Promise<void> {
    const { clip } = this.#options
    if (clip) {
      onSound()
      return onPiece(clip)
    }
    const synthesis = this.#begin()
    let isOver = false
    let hasSounded = false
    // Its failure is thrown below, after all that came before it.
    const ending = synthesis.then(
      () => (isOver = true),
      () => (isOver = true),
    )
    for (;;) {
      for (const piece of this.#pieces.splice(0)) {
        if (!hasSounded) onSound()
        hasSounded = true
        onPiece(piece)
      }
      if (isOver && this.#pieces.length === 0) return synthesis
      await Promise.race([ending, this.#nextPiece()])
    }
  }

  #begin(): Promise<void> {
    this.#synthesis ??= this.#synthesize()
    this.#synthesis.catch(() => undefined)
    return this.#synthesis
  }

  #nextPiece(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    return promise
  }

  async #synthesize(): Promise<void> {
    const { codec, synthesizer, signal, text } = this.#options
    let hasBegun = false
    let repeats = 0
    const once = async (): Promise<void> => {
      if (hasBegun) repeats += 1
      for await (const samples of synthesizer.speak(text, signal)) {
        hasBegun = true
        this.#pieces.push(encodeG711(codec, samples))
        this.#wake()
      }
    }
    await withRetries(once, signal, () => !hasBegun || repeats < maxRepeats)
  }
}
