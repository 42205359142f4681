import { ProviderError, withinLimit } from '../provider-error.ts'

/** The first sound may take this long, and a pause in the middle. */
const startLimitMs = 8_000
const pauseLimitMs = 5_000
/** Five minutes of speech at 8 kHz; more is an error. */
const maxSamples = 300 * 8_000

/** Speech that a connection brings and one utterance takes, in order. */
export class SampleFeed {
  #queue: Int16Array[] = []
  #samples = 0
  #isOver = false
  #error: Error | undefined
  #wake = (): void => {}

  push(samples: Int16Array): void {
    if (this.#isOver) return
    this.#samples += samples.length
    if (this.#samples > maxSamples)
      return this.fail(new ProviderError('speech_failed', 'The synthesizer does not stop.'))
    if (samples.length > 0) this.#queue.push(samples)
    this.#wake()
  }

  end(): void {
    if (this.#samples === 0)
      return this.fail(new ProviderError('speech_failed', 'The synthesizer sent no audio.'))
    this.#isOver = true
    this.#wake()
  }

  fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#error = error
    this.#wake()
  }

  /** Rejects with `ProviderError`, or with the signal's reason. */
  async *samples(signal: AbortSignal): AsyncGenerator<Int16Array> {
    const onAbort = (): void => this.#wake()
    signal.addEventListener('abort', onAbort)
    try {
      for (;;) {
        signal.throwIfAborted()
        const next = this.#queue.shift()
        if (next) {
          yield next
          continue
        }
        if (this.#error) throw this.#error
        if (this.#isOver) return
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#wake = resolve
        const limitMs = this.#samples === 0 ? startLimitMs : pauseLimitMs
        await withinLimit(promise, limitMs, 'speech_timeout')
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/** Longer texts are cut, because a fault of the model made them. */
const maxTextLength = 4_000

export const cutText = (text: string): string => text.slice(0, maxTextLength)
