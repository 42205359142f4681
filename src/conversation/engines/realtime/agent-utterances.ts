import { OutgoingUtterance } from '../../engine/outgoing-utterance.ts'
import type { VoiceEvent } from '../../engine/voice-engine.ts'
import type { G711Codec } from '../../../audio/g711.ts'
import type { WireAudio } from './wire-audio.ts'

interface InterruptedUtterance {
  /** How much audio of it the server has sent. */
  readonly producedMs: number
  readonly responseId: string
}

interface Tracked {
  readonly responseId: string
  readonly utterance: OutgoingUtterance
}

/** Only the last few matter: an interruption reaches back to the audio that is still queued for playout. */
const maxTracked = 32
const maxTextLength = 20_000

/** The server's speech, utterance by utterance (an utterance is an item of the protocol). */
export class AgentUtterances {
  readonly #codec: G711Codec
  readonly #wire: WireAudio
  readonly #emit: (event: VoiceEvent) => void
  readonly #tracked = new Map<string, Tracked>()
  readonly #interruptedResponses = new Set<string>()
  #producedMs = 0
  #speakingId: string | undefined

  constructor(codec: G711Codec, wire: WireAudio, emit: (event: VoiceEvent) => void) {
    this.#codec = codec
    this.#wire = wire
    this.#emit = emit
  }

  /** How much audio the server has sent, in whole milliseconds. */
  get producedMs(): number {
    return Math.floor(this.#producedMs)
  }

  /** `response.output_audio.delta`, base64. */
  audio(itemId: string, responseId: string, base64: string): void {
    const { utterance } = this.#track(itemId, responseId)
    // Before decoding, because audio that the callee will not hear must cost nothing.
    if (utterance.isClosed) return
    if (this.#speakingId !== itemId) this.#wire.restart()
    this.#speakingId = itemId
    const before = utterance.producedMs
    utterance.audio(this.#wire.fromWire(Buffer.from(base64, 'base64')))
    this.#producedMs += utterance.producedMs - before
  }

  audioDone(itemId: string): void {
    this.#tracked.get(itemId)?.utterance.endAudio()
  }

  text(itemId: string, responseId: string, delta: string): void {
    const { utterance } = this.#track(itemId, responseId)
    if (utterance.text.length < maxTextLength) utterance.setWords(utterance.text + delta)
  }

  textDone(itemId: string, responseId: string, transcript: string): void {
    const { utterance } = this.#track(itemId, responseId)
    utterance.setWords(transcript.slice(0, maxTextLength))
    utterance.endText()
  }

  /** `response.done`: the utterances of this response are complete. */
  responseDone(responseId: string): void {
    for (const tracked of this.#tracked.values())
      if (tracked.responseId === responseId) tracked.utterance.end()
  }

  /** The server is gone: its speech ends here. */
  breakOff(): void {
    for (const { utterance } of this.#tracked.values()) utterance.breakOff()
  }

  /** No more of the utterance is passed on. Undefined if it is unknown or was interrupted before. */
  interrupt(itemId: string): InterruptedUtterance | undefined {
    const tracked = this.#tracked.get(itemId)
    if (!tracked || tracked.utterance.isInterrupted) return undefined
    const { utterance, responseId } = tracked
    utterance.interrupt()
    if (!utterance.isAudioOver) this.#rememberInterrupted(responseId)
    return { producedMs: Math.floor(utterance.producedMs), responseId }
  }

  #track(id: string, responseId: string): Tracked {
    const known = this.#tracked.get(id)
    if (known) return known
    const utterance = new OutgoingUtterance({ id, codec: this.#codec, emit: this.#emit })
    if (this.#interruptedResponses.has(responseId)) utterance.interrupt()
    const tracked = { responseId, utterance }
    this.#tracked.set(id, tracked)
    for (const oldest of this.#tracked.keys()) {
      if (this.#tracked.size <= maxTracked) break
      this.#tracked.delete(oldest)
    }
    return tracked
  }

  #rememberInterrupted(responseId: string): void {
    this.#interruptedResponses.add(responseId)
    for (const oldest of this.#interruptedResponses) {
      if (this.#interruptedResponses.size <= maxTracked) return
      this.#interruptedResponses.delete(oldest)
    }
  }
}
