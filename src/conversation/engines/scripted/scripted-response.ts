import { g711BytesPerMs } from '../../../audio/frame.ts'
import type { WireAudio } from '../realtime/wire-audio.ts'
import type { ScriptedReply } from './dialogue.ts'
import type { SpokenSentence } from './scripted-voice.ts'
import type { SpeechQueue } from './speech-queue.ts'

interface ScriptedResponseOptions {
  readonly id: string
  readonly newId: (prefix: string) => string
  readonly reply: ScriptedReply
  readonly sentences: Iterator<SpokenSentence>
  readonly speech: SpeechQueue
  readonly wire: WireAudio
  readonly send: (event: object) => void
  /** This many milliseconds of audio of this item were sent so far. */
  readonly onAudio: (itemId: string, producedMs: number) => void
  readonly onCall: (toolCallId: string) => void
  readonly onDone: () => void
}

/** One delta carries 200 ms. */
const deltaBytes = 200 * g711BytesPerMs
/**
 * The first second is sent at once, the rest four times as fast as real time: a model is quick, not
 * instant.
 */
const burstMs = 1_000
const paceMs = 100
const pacedMsPerStep = 400
const tokensPerSecondOfAudio = 20

/** One response of the scripted model: its events in the order of the protocol, paced, until it is complete or cancelled. */
export class ScriptedResponse {
  readonly id: string
  readonly #options: ScriptedResponseOptions
  readonly #itemId: string
  readonly #output: object[] = []
  #timer: NodeJS.Timeout | undefined
  #sentence: SpokenSentence | undefined
  #sentenceAt = 0
  #sentMs = 0
  /**
   * When all sent audio has been played. A late start is better than a gap, so responses that
   * already speak go first.
   */
  #dueMs = Infinity
  #hasSpoken = false
  #isOver = false

  constructor(options: ScriptedResponseOptions) {
    this.#options = options
    this.id = options.id
    this.#itemId = options.newId('item')
  }

  /** A short response may end as soon as it has begun. */
  get isOver(): boolean {
    return this.#isOver
  }

  begin(): void {
    const { reply, send } = this.#options
    const response = { id: this.id, object: 'realtime.response', status: 'in_progress', output: [] }
    send({ type: 'response.created', response })
    if (reply.text === '') {
      this.#sendCalls()
      return this.#finish('completed')
    }
    const item = this.#message('in_progress', [])
    send({ type: 'response.output_item.added', ...this.#place(0), item })
    this.#speakOn(burstMs)
  }

  /** `response.cancel`: only the response's end is still sent. */
  cancel(): void {
    this.#finish('cancelled')
  }

  /** The client is gone: nothing more is sent. */
  abandon(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  #speakOn(untilMs: number): void {
    while (this.#sentMs < untilMs) {
      const sentence = this.#sentence
      if (!sentence || this.#sentenceAt >= sentence.g711.length) return this.#continueWith(untilMs)
      this.#sendDelta(sentence)
    }
    this.#timer = setTimeout(() => this.#speakOn(this.#sentMs + pacedMsPerStep), paceMs)
  }

  /** Speaks the next sentence once it is made, or ends. */
  #continueWith(untilMs: number): void {
    this.#options.speech.add(this.#dueMs, () => {
      if (this.#isOver) return
      if (this.#takeSentence()) return this.#speakOn(untilMs)
      this.#endMessage()
      this.#sendCalls()
      this.#finish('completed')
    })
  }

  #sendDelta(sentence: SpokenSentence): void {
    const { wire, send, onAudio } = this.#options
    const chunk = sentence.g711.subarray(this.#sentenceAt, this.#sentenceAt + deltaBytes)
    this.#sentenceAt += chunk.length
    const chunkMs = chunk.length / g711BytesPerMs
    this.#sentMs += chunkMs
    if (!this.#hasSpoken) this.#dueMs = performance.now()
    this.#hasSpoken = true
    this.#dueMs += chunkMs
    onAudio(this.#itemId, Math.floor(this.#sentMs))
    const delta = wire.toWire(chunk).toString('base64')
    send({ type: 'response.output_audio.delta', ...this.#at, delta })
  }

  /** Blocks during synthesis; false when there is nothing more to say. */
  #takeSentence(): boolean {
    const next = this.#options.sentences.next()
    if (next.done) return false
    this.#sentence = next.value
    this.#sentenceAt = 0
    const delta = `${next.value.text} `
    this.#options.send({ type: 'response.output_audio_transcript.delta', ...this.#at, delta })
    return true
  }

  #endMessage(): void {
    const { reply, send } = this.#options
    const transcript = reply.text
    send({ type: 'response.output_audio_transcript.done', ...this.#at, transcript })
    send({ type: 'response.output_audio.done', ...this.#at })
    const item = this.#message('completed', [{ type: 'output_audio', transcript }])
    this.#output.push(item)
    send({ type: 'response.output_item.done', ...this.#place(0), item })
  }

  #sendCalls(): void {
    const { reply, newId, onCall, send } = this.#options
    for (const call of reply.calls) {
      const callId = newId('call')
      onCall(callId)
      const named = { call_id: callId, name: call.name, arguments: JSON.stringify(call.arguments) }
      const item = { id: newId('item'), type: 'function_call', status: 'completed', ...named }
      const place = this.#place(this.#output.push(item) - 1)
      send({ type: 'response.output_item.added', ...place, item })
      const type = 'response.function_call_arguments.done'
      send({ type, ...place, item_id: item.id, ...named })
      send({ type: 'response.output_item.done', ...place, item })
    }
  }

  #finish(status: 'completed' | 'cancelled'): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    const { reply, send, onDone } = this.#options
    const outputTokens = Math.ceil((this.#sentMs / 1_000) * tokensPerSecondOfAudio)
    const usage = { input_tokens: reply.text.length, output_tokens: outputTokens }
    const of = { id: this.id, object: 'realtime.response', status, output: this.#output, usage }
    send({ type: 'response.done', response: of })
    onDone()
  }

  #message(status: string, content: readonly object[]) {
    return { id: this.#itemId, type: 'message', role: 'assistant', status, content }
  }

  #place(outputIndex: number) {
    return { response_id: this.id, output_index: outputIndex }
  }

  get #at() {
    return { ...this.#place(0), item_id: this.#itemId, content_index: 0 }
  }
}
