import { g711BytesPerMs } from '../../audio/frame.ts'
import { g711FrameBytes, g711Silence } from '../../audio/g711.ts'
import { heardWords } from './heard-words.ts'
import type { VoiceEvent } from './voice-engine.ts'
import type { G711Codec } from '../../audio/g711.ts'

interface OutgoingUtteranceOptions {
  readonly id: string
  readonly codec: G711Codec
  readonly emit: (event: VoiceEvent) => void
  /** The most audio in one event, in whole frames; without a limit, all that arrived together. */
  readonly maxEventBytes?: number
}

interface Part {
  readonly text: string
  /** How much audio of the utterance came before these words. */
  readonly beganAtMs: number
}

/** The fastest possible speech. */
const charactersPerSecond = 20
const noBytes = new Uint8Array(0)

/**
 * One utterance of the agent on its way from an engine to the loop: audio in whole frames, its end,
 * and its words once. A short frame in the middle of speech would click, so bytes wait until a
 * frame is full.
 */
export class OutgoingUtterance {
  readonly id: string
  readonly #options: OutgoingUtteranceOptions
  #parts: Part[] = []
  #carry: Uint8Array = noBytes
  #producedBytes = 0
  #isAudioOver = false
  #isInterrupted = false
  #isTextSent = false

  constructor(options: OutgoingUtteranceOptions) {
    this.id = options.id
    this.#options = options
  }

  /** How much audio the engine has given. */
  get producedMs(): number {
    return this.#producedBytes / g711BytesPerMs
  }

  /** The words so far. */
  get text(): string {
    return this.#parts.map(({ text }) => text).join(' ')
  }

  /** No more audio of it is passed on. */
  get isClosed(): boolean {
    return this.#isAudioOver || this.#isInterrupted
  }

  /** Whether the engine has given all of its audio. */
  get isAudioOver(): boolean {
    return this.#isAudioOver
  }

  get isInterrupted(): boolean {
    return this.#isInterrupted
  }

  /** The words of the audio that comes from now on. */
  addWords(text: string): void {
    this.#parts.push({ text, beganAtMs: this.producedMs })
  }

  /** The words of the whole utterance; they replace earlier ones. */
  setWords(text: string): void {
    this.#parts = [{ text, beganAtMs: 0 }]
  }

  /** G.711 of any length. */
  audio(g711: Uint8Array): void {
    if (this.isClosed) return
    this.#producedBytes += g711.length
    const joined = this.#carry.length > 0 ? concat(this.#carry, g711) : g711
    const wholeBytes = joined.length - (joined.length % g711FrameBytes)
    this.#carry = joined.slice(wholeBytes)
    const stepBytes = this.#options.maxEventBytes ?? wholeBytes
    for (let at = 0; at < wholeBytes; at += stepBytes)
      this.#send(joined.subarray(at, Math.min(wholeBytes, at + stepBytes)))
  }

  /** No more audio comes: the last frame is filled with silence. Does nothing while there was no audio. */
  endAudio(): void {
    if (this.#isAudioOver || this.#producedBytes === 0) return
    this.#isAudioOver = true
    if (this.#isInterrupted) return
    if (this.#carry.length > 0) {
      const frame = g711Silence(this.#options.codec)
      frame.set(this.#carry)
      this.#carry = noBytes
      this.#send(frame)
    }
    this.#options.emit({ type: 'audio_end', utteranceId: this.id })
  }

  /** The words are complete. They are sent once, if the utterance has any. */
  endText(): void {
    const { text } = this
    if (this.#isTextSent || text === '') return
    this.#isTextSent = true
    this.#options.emit({ type: 'agent_text', utteranceId: this.id, text })
  }

  /** The utterance is complete. */
  end(): void {
    this.endAudio()
    this.endText()
  }

  /** The callee does not hear the rest: no more audio of it is passed on. */
  interrupt(): void {
    this.#isInterrupted = true
  }

  /**
   * The server broke in the middle. The utterance ends here and keeps the words that its audio is
   * long enough for.
   */
  breakOff(): void {
    const last = this.#isAudioOver ? undefined : this.#parts.pop()
    if (last) {
      const text = wordsWithin(last.text, this.producedMs - last.beganAtMs)
      if (text !== '') this.#parts.push({ ...last, text })
    }
    this.end()
  }

  #send(g711: Uint8Array): void {
    this.#options.emit({ type: 'audio', utteranceId: this.id, g711 })
  }
}

const wordsWithin = (text: string, soundMs: number): string =>
  heardWords(text, text === '' ? 1 : (soundMs / 1000) * (charactersPerSecond / text.length))

const concat = (one: Uint8Array, other: Uint8Array): Uint8Array => {
  const joined = new Uint8Array(one.length + other.length)
  joined.set(one)
  joined.set(other, one.length)
  return joined
}
