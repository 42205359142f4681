import { decodeG711, encodeG711 } from '../../../../src/audio/g711.ts'
import { readVerbatim } from '../../../../src/conversation/engines/realtime/protocol.ts'
import {
  memberAt,
  type Json,
  type RowFormat,
  type RowSession,
  type ServerRow,
} from './server-row.ts'
import { toneIn, toneSamples } from './tones.ts'

/** What the callee can say, and the reply to it. */
export const calleeWords = ['Good morning.', 'Where is my order?', 'Tell me more.', 'Goodbye.']
export const replies = ['You said good morning.', 'The order is here.', 'A long story.', 'Bye now.']
/** The call that the second word leads to, and the one of the fourth. */
export const lookUp = { name: 'look_up', arguments: '{"order":7}' }
export const endCall = { name: 'end_call', arguments: '{}' }

const silenceMs = 500
const loud = 500 ** 2

/** The server's side of one session of a row. */
export class RowConversation {
  readonly received: Json[] = []
  readonly state: RowSession
  readonly #row: ServerRow
  readonly #send: (event: Json) => void
  readonly #startedBeforeMs: number
  #ids = 0
  #heardSamples = 0
  #bufferFromMs = 0
  #speech: number[] = []
  #speechFromMs: number | undefined
  #quietMs = 0
  #itemId = ''
  #active: { readonly id: string; readonly itemId: string } | undefined
  #openCall: string | undefined
  /** What the callee said while a response was active. */
  #unanswered: number | undefined

  /** @param startedBeforeMs how long the session has existed when the first audio comes: the phone rang. */
  constructor(row: ServerRow, send: (event: Json) => void, startedBeforeMs: number) {
    this.#row = row
    this.#send = send
    this.#startedBeforeMs = startedBeforeMs
    this.state = { ...row.initial }
    for (const event of row.opening) this.#tell(event)
  }

  get heardMs(): number {
    return (this.#heardSamples * 1_000) / rateOf(this.state.input)
  }

  /** Whether a response waits to be cut. */
  get isSpeaking(): boolean {
    return this.#active !== undefined
  }

  receive(text: string): void {
    const event = JSON.parse(text) as Json
    this.received.push(event)
    const type = String(event['type'])
    const refusal = this.#row.refusals?.[type]
    if (refusal) return this.#tell(refusal)
    if (type === 'session.update') return this.#update(event['session'] as Json)
    if (type === 'input_audio_buffer.append') return this.#hear(String(event['audio']))
    if (type === 'response.create') return this.#create(event)
    if (type === 'response.cancel') return this.#cancel()
    if (type === 'conversation.item.create') return this.#item(event['item'] as Json)
  }

  #update(session: Json): void {
    for (const event of this.#row.update(session, this.state)) this.#tell(event)
  }

  #hear(base64: string): void {
    const samples = decode(Buffer.from(base64, 'base64'), this.state.input)
    const step = rateOf(this.state.input) / 50
    for (let at = 0; at < samples.length; at += step)
      this.#hearFrame(samples.subarray(at, at + step))
  }

  #hearFrame(frame: Int16Array): void {
    const energy = frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length
    const frameMs = (frame.length * 1_000) / rateOf(this.state.input)
    if (energy > loud) {
      if (this.#speechFromMs === undefined) this.#started()
      this.#quietMs = 0
      this.#speech.push(...frame)
    } else if (this.#speechFromMs !== undefined) {
      this.#quietMs += frameMs
    }
    this.#heardSamples += frame.length
    if (this.#speechFromMs !== undefined && this.#quietMs >= silenceMs) this.#stopped()
  }

  #timeOf(ms: number): number {
    const { speechTimes } = this.#row
    const from = { session: 0, none: 0, buffer: -this.#bufferFromMs, clock: this.#startedBeforeMs }
    return Math.round(ms + from[speechTimes])
  }

  #started(): void {
    this.#speechFromMs = this.heardMs
    this.#itemId = this.#newId('item')
    const hasTime = this.#row.speechTimes !== 'none'
    if (this.#active && this.state.interruptsItself) this.#finish('cancelled')
    this.#tell({
      type: 'input_audio_buffer.speech_started',
      item_id: this.#itemId,
      ...(hasTime && { audio_start_ms: this.#timeOf(this.#speechFromMs) }),
    })
  }

  #stopped(): void {
    const word = toneIn(Int16Array.from(this.#speech), rateOf(this.state.input))
    const place = { item_id: this.#itemId }
    this.#tell({
      type: 'input_audio_buffer.speech_stopped',
      ...place,
      ...(this.#row.speechTimes !== 'none' && { audio_end_ms: this.#timeOf(this.heardMs) }),
    })
    this.#tell({ type: 'input_audio_buffer.committed', ...place, previous_item_id: null })
    this.#bufferFromMs = this.heardMs
    this.#speech = []
    this.#speechFromMs = undefined
    this.#quietMs = 0
    this.#transcribe(place, word)
    // Some servers drop a response that is still active; the others begin none beside it.
    if (this.#active && this.#row.replacesActive) this.#active = undefined
    if (this.#active) this.#unanswered = word
    else this.#reply(word)
  }

  #transcribe(place: Json, word: number | undefined): void {
    const type = 'conversation.item.input_audio_transcription'
    if (this.state.transcription === 'none') return
    if (this.state.transcription === 'failed')
      return this.#tell({ type: `${type}.failed`, ...place, content_index: 0, error: {} })
    const transcript = word === undefined ? '' : (calleeWords[word] ?? '')
    this.#tell({ type: `${type}.completed`, ...place, content_index: 0, transcript })
  }

  #reply(word: number | undefined): void {
    if (word === undefined) return
    if (word === 1) return this.#respond(undefined, lookUp)
    if (word === 2) return this.#respond({ word, text: replies[2] ?? '', isUnfinished: true })
    this.#respond({ word, text: replies[word] ?? '' }, word === 3 ? endCall : undefined)
  }

  #create(event: Json): void {
    const instructions = memberAt(event['response'], 'instructions')
    const text = typeof instructions === 'string' ? readVerbatim(instructions) : undefined
    if (this.#active) {
      const error = {
        type: 'invalid_request_error',
        code: 'conversation_already_has_active_response',
      }
      return this.#tell({ type: 'error', error: { ...error, message: 'Active.' } })
    }
    if (text !== undefined) return this.#respond({ word: 0, text })
    if (this.#unanswered !== undefined) {
      const word = this.#unanswered
      this.#unanswered = undefined
      return this.#reply(word)
    }
    if (this.#openCall === undefined) this.#respond({ word: 1, text: replies[1] ?? '' })
  }

  #cancel(): void {
    if (this.#active) return this.#finish('cancelled')
    const message = 'There is no active response.'
    this.#tell({ type: 'error', error: { type: 'invalid_request_error', message } })
  }

  #item(item: Json): void {
    const refusal = this.#row.judgeItem?.(item)
    if (refusal) return this.#tell(refusal)
    if (item['type'] === 'function_call_output' && item['call_id'] === this.#openCall)
      this.#openCall = undefined
  }

  #respond(
    speech: { word: number; text: string; isUnfinished?: boolean } | undefined,
    call?: { name: string; arguments: string },
  ): void {
    const id = this.#newId('resp')
    const itemId = this.#newId('item')
    this.#active = { id, itemId }
    this.#tell({ type: 'response.created', response: { id, status: 'in_progress', output: [] } })
    const place = { response_id: id, item_id: itemId, output_index: 0, content_index: 0 }
    if (speech) {
      this.#tell({ type: this.#named('audio_transcript.delta'), ...place, delta: speech.text })
      this.#speak(place, speech.word)
      if (speech.isUnfinished) return
      this.#tell({ type: this.#named('audio.done'), ...place })
      this.#tell({ type: this.#named('audio_transcript.done'), ...place, transcript: speech.text })
      const item = { id: itemId, type: 'message', role: 'assistant', status: 'completed' }
      this.#tell({ type: 'response.output_item.done', response_id: id, output_index: 0, item })
    }
    if (call) this.#call(id, call)
    this.#finish('completed')
  }

  /** In deltas of an odd number of bytes, as servers send them. */
  #speak(place: Json, word: number): void {
    const { output } = this.state
    const bytes = encode(toneSamples(word, rateOf(output)), output)
    const size = 4_801
    for (let at = 0; at < bytes.length; at += size) {
      const delta = bytes.subarray(at, at + size).toString('base64')
      this.#tell({ type: this.#named('audio.delta'), ...place, delta })
    }
  }

  #call(responseId: string, call: { name: string; arguments: string }): void {
    const id = this.#newId('item')
    const callId = this.#newId('call')
    this.#openCall = callId
    const { callEvents } = this.#row
    const item = { id, type: 'function_call', call_id: callId, ...call, status: 'completed' }
    const place = { response_id: responseId, output_index: 1 }
    if (callEvents !== 'item')
      this.#tell({
        type: 'response.function_call_arguments.done',
        ...place,
        item_id: id,
        call_id: callId,
        ...call,
      })
    if (callEvents !== 'arguments')
      this.#tell({ type: 'response.output_item.done', ...place, item })
  }

  #finish(status: 'completed' | 'cancelled'): void {
    const active = this.#active
    if (!active) return
    this.#active = undefined
    const { usage } = this.#row
    const response = { id: active.id, status, output: [], ...(usage && { usage }) }
    this.#tell({ type: 'response.done', response })
  }

  #named(name: string): string {
    return this.#row.isBeta ? `response.${name}` : `response.output_${name}`
  }

  #newId(prefix: string): string {
    this.#ids += 1
    return `${prefix}_${this.#ids}`
  }

  #tell(event: Json): void {
    this.#send({ event_id: this.#newId('event'), ...event })
  }
}

const rateOf = (format: RowFormat): number => (format.kind === 'g711' ? 8_000 : format.rateHz)

const decode = (bytes: Buffer, format: RowFormat): Int16Array => {
  if (format.kind === 'g711') return decodeG711(format.codec, bytes)
  const samples = new Int16Array(bytes.length >> 1)
  for (let at = 0; at < samples.length; at += 1) samples[at] = bytes.readInt16LE(2 * at)
  return samples
}

const encode = (samples: Int16Array, format: RowFormat): Buffer => {
  if (format.kind === 'g711') return Buffer.from(encodeG711(format.codec, samples))
  const bytes = Buffer.alloc(2 * samples.length)
  for (const [at, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * at)
  return bytes
}
