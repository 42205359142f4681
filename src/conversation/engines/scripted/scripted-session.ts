import { decodeG711, g711FrameBytes } from '../../../audio/g711.ts'
import type { Synthesizer } from '../../../audio/flite.ts'
import type { VoiceActivityDetector } from '../../../audio/voice-activity.ts'
import { parseObject, readAppendedAudio, readVerbatim } from '../realtime/protocol.ts'
import type { ScriptedReply } from './dialogue.ts'
import { createScriptedItems, type ScriptedItems } from './scripted-items.ts'
import { ScriptedResponse } from './scripted-response.ts'
import { mergeSession, readSettings, type ScriptedSettings } from './scripted-settings.ts'
import { ScriptedTurns } from './scripted-turns.ts'
import { speakSentences } from './scripted-voice.ts'
import type { SpeechQueue } from './speech-queue.ts'
import type { Understanding } from './understanding.ts'
import { BoundedMap } from '../../../runtime/bounded-map.ts'

interface ScriptedSessionOptions {
  readonly voiceActivity: VoiceActivityDetector
  readonly understanding: Understanding
  readonly synthesizer: Synthesizer
  /** All sessions of the thread. */
  readonly speech: SpeechQueue
  send(message: string): void
}

interface ConversationItem {
  readonly id?: unknown
  readonly type?: unknown
  readonly role?: unknown
  readonly call_id?: unknown
  readonly output?: unknown
  readonly content?: readonly {
    readonly type?: unknown
    readonly text?: unknown
    readonly transcript?: unknown
  }[]
}

type Event = Readonly<Record<string, unknown>>

const maxTrackedItems = 256

/**
 * The server's side of one session of the Realtime protocol. As strict as real servers: it refuses
 * what they refuse, with the same code.
 */
export class ScriptedSession {
  readonly #options: ScriptedSessionOptions
  readonly #items: ScriptedItems
  readonly #turns = new ScriptedTurns()
  readonly #producedMsByItem = new BoundedMap<string, number>({ maxSize: maxTrackedItems })
  readonly #openCalls = new Set<string>()
  #ids = 0
  #session: Event = { type: 'realtime', object: 'realtime.session' }
  #settings: ScriptedSettings | undefined
  #active: ScriptedResponse | undefined
  #greeting = ''
  #speechItemId = ''
  /** Audio that does not fill a frame yet. */
  #carry = new Uint8Array(0)

  constructor(options: ScriptedSessionOptions) {
    this.#options = options
    this.#items = createScriptedItems((event) => this.#send(event))
    this.#send({ type: 'session.created', session: this.#session })
  }

  receive(message: string): void {
    const audio = readAppendedAudio(message)
    if (audio !== undefined) return this.#appendAudio(audio)
    const event = parseObject(message)
    if (event) this.#take(event)
    else this.#refuse('invalid_json', 'The event is no JSON object.')
  }

  close(): void {
    this.#active?.abandon()
    this.#options.voiceActivity.close()
  }

  #take(event: Event): void {
    switch (event.type) {
      case 'session.update':
        return this.#update(event)
      case 'input_audio_buffer.append':
        return this.#appendAudio(String(event.audio))
      case 'response.create':
        return this.#createResponse(event)
      case 'response.cancel':
        return this.#cancelResponse(event)
      case 'conversation.item.truncate':
        return this.#truncate(event)
      case 'conversation.item.create':
        return this.#createItem(event)
      case 'conversation.item.delete':
        return this.#deleteItem(event)
      case 'conversation.item.retrieve':
        return this.#retrieve(event)
      default:
        return this.#refuse('invalid_event', 'Unknown event type.', event.event_id)
    }
  }

  #update(event: Event): void {
    const named = (event.session ?? {}) as Event
    const merged = mergeSession(this.#session, named)
    const members = ['instructions', 'tools', 'audio']
    if (!this.#settings || members.some((member) => member in named)) {
      const read = readSettings(merged, this.#options.voiceActivity, () => this.#greeting)
      if (!read) return this.#refuse('invalid_value', 'Unknown audio format.', event.event_id)
      this.#settings = read
    }
    this.#session = merged
    this.#send({ type: 'session.updated', session: merged })
  }

  #appendAudio(base64: string): void {
    const settings = this.#settings
    if (!settings) return this.#refuse('invalid_event', 'There is no session yet.')
    const heard = settings.input.fromWire(Buffer.from(base64, 'base64'))
    const g711 = new Uint8Array(this.#carry.length + heard.length)
    g711.set(this.#carry)
    g711.set(heard, this.#carry.length)
    let at = 0
    for (; at + g711FrameBytes <= g711.length; at += g711FrameBytes)
      this.#hear(g711.subarray(at, at + g711FrameBytes), settings)
    this.#carry = g711.slice(at)
  }

  #hear(g711: Uint8Array, settings: ScriptedSettings): void {
    const heard = settings.ear.hear(decodeG711(settings.codec, g711))
    if (heard?.kind === 'started') this.#speechStarted(heard.atMs, settings)
    if (heard?.kind === 'stopped') this.#speechStopped(heard.atMs, heard.samples, settings)
  }

  #speechStarted(atMs: number, settings: ScriptedSettings): void {
    this.#speechItemId = this.#newId('item')
    this.#send({
      type: 'input_audio_buffer.speech_started',
      audio_start_ms: atMs,
      item_id: this.#speechItemId,
    })
    if (settings.isInterruptible) this.#active?.cancel()
  }

  #speechStopped(atMs: number, samples: Int16Array, settings: ScriptedSettings): void {
    const place = { item_id: this.#speechItemId }
    this.#send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: atMs, ...place })
    this.#send({ type: 'input_audio_buffer.committed', ...place, previous_item_id: null })
    const transcript = this.#options.understanding.understand(samples)
    this.#turns.tell(transcript)
    this.#items.add({
      id: place.item_id,
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_audio', transcript }],
    })
    this.#send({
      type: 'conversation.item.input_audio_transcription.completed',
      ...place,
      content_index: 0,
      transcript,
    })
    if (settings.createsResponses && !this.#active) this.#reply(settings)
  }

  #createResponse(event: Event): void {
    const settings = this.#settings
    if (!settings) return this.#refuse('invalid_event', 'There is no session yet.', event.event_id)
    if (this.#active) {
      const message = `Conversation already has an active response: ${this.#active.id}.`
      return this.#refuse('conversation_already_has_active_response', message, event.event_id)
    }
    const verbatim = verbatimIn(event.response)
    if (verbatim === undefined) return this.#reply(settings)
    this.#greeting ||= verbatim
    this.#respond({ text: verbatim, calls: [] }, settings)
  }

  #reply(settings: ScriptedSettings): void {
    this.#respond(this.#turns.reply(settings.dialogue), settings)
  }

  #respond(reply: ScriptedReply, { codec, output, voice }: ScriptedSettings): void {
    const response = new ScriptedResponse({
      id: this.#newId('resp'),
      newId: (prefix) => this.#newId(prefix),
      reply,
      sentences: speakSentences(reply.text, voice, codec, this.#options.synthesizer),
      speech: this.#options.speech,
      wire: output,
      send: (event) => this.#items.sendOfResponse(event),
      onAudio: (itemId, producedMs) => this.#produced(itemId, producedMs),
      onCall: (toolCallId) => this.#openCalls.add(toolCallId),
      onDone: () => {
        this.#active = undefined
      },
    })
    response.begin()
    this.#active = response.isOver ? undefined : response
  }

  #produced(itemId: string, producedMs: number): void {
    this.#producedMsByItem.set(itemId, producedMs)
  }

  #cancelResponse(event: Event): void {
    if (this.#active) return this.#active.cancel()
    this.#refuse('response_cancel_not_active', 'There is no active response.', event.event_id)
  }

  #truncate(event: Event): void {
    const producedMs = this.#producedMsByItem.get(String(event.item_id))
    const endMs = Number(event.audio_end_ms)
    if (producedMs === undefined || !(endMs >= 0 && endMs <= producedMs)) {
      const message = `Audio content of ${producedMs ?? 0}ms is already shorter than ${endMs}ms.`
      return this.#refuse('invalid_value', message, event.event_id)
    }
    this.#send({
      type: 'conversation.item.truncated',
      item_id: event.item_id,
      content_index: 0,
      audio_end_ms: endMs,
    })
  }

  #createItem(event: Event): void {
    const item = (event.item ?? {}) as ConversationItem
    const isResult = item.type === 'function_call_output'
    if (isResult && !this.#openCalls.delete(String(item.call_id)))
      return this.#refuse('invalid_tool_call_id', 'There is no such tool call.', event.event_id)
    const id = typeof item.id === 'string' ? item.id : this.#newId('item')
    this.#items.add({ ...item, id, status: 'completed' })
    if (isResult) return this.#takeResult(item)
    if (item.type === 'function_call') this.#openCalls.add(String(item.call_id))
    else this.#takeMessage(item)
  }

  #takeResult(item: ConversationItem): void {
    const result = parseObject(String(item.output))
    if (result?.transferred === false) this.#turns.transferFailed()
  }

  #takeMessage({ role, content }: ConversationItem): void {
    if (role === 'assistant' && this.#settings)
      return this.#turns.repliedEarlier(this.#settings.dialogue)
    if (role === 'system') this.#turns.cutOff()
    if (role !== 'user') return
    for (const part of content ?? []) {
      if (part.type === 'input_text' && typeof part.text === 'string') this.#turns.tell(part.text)
    }
  }

  #deleteItem(event: Event): void {
    const item = this.#items.remove(String(event.item_id)) as ConversationItem | undefined
    if (!item) return this.#refuse('item_not_found', 'There is no such item.', event.event_id)
    for (const { transcript } of item.content ?? [])
      if (typeof transcript === 'string') this.#turns.takeBack(transcript)
  }

  #retrieve(event: Event): void {
    const item = this.#items.find(String(event.item_id))
    if (item) return this.#send({ type: 'conversation.item.retrieved', item })
    this.#refuse('item_not_found', 'There is no such item.', event.event_id)
  }

  #refuse(code: string, message: string, eventId?: unknown): void {
    const error = { type: 'invalid_request_error', code, message, event_id: eventId ?? null }
    this.#send({ type: 'error', error })
  }

  #send(event: object): void {
    this.#options.send(JSON.stringify({ event_id: this.#newId('event'), ...event }))
  }

  #newId(prefix: string): string {
    this.#ids += 1
    return `${prefix}_${this.#ids}`
  }
}

const verbatimIn = (response: unknown): string | undefined => {
  const { instructions } = (response ?? {}) as { instructions?: unknown }
  return typeof instructions === 'string' ? readVerbatim(instructions) : undefined
}
