import { decodeG711, g711FrameBytes } from '../../../audio/g711.ts'
import type { Synthesizer } from '../../../audio/flite.ts'
import type { VoiceActivityDetector } from '../../../audio/voice-activity.ts'
import { parseObject, readAppendedAudio, readVerbatim } from '../realtime/protocol.ts'
import { transferFailedNote, type Reply } from './dialogue.ts'
import { createScriptedItems } from './scripted-items.ts'
import { startScriptedResponse, type ScriptedResponse } from './scripted-response.ts'
import { mergeSession, readSettings, type ScriptedSettings } from './scripted-settings.ts'
import { speakSentences } from './scripted-voice.ts'
import type { Understanding } from './understanding.ts'

/** The server's side of one session of the Realtime protocol. */
export interface ScriptedSession {
  receive(message: string): void
  close(): void
}

export interface ScriptedSessionOptions {
  readonly voiceActivity: VoiceActivityDetector
  readonly understanding: Understanding
  readonly synthesizer: Synthesizer
  send(message: string): void
}

const maxTrackedItems = 256
const maxPendingTextLength = 4_000
const silentReply: Reply = { text: '', calls: [] }

/** Strict about the protocol where real servers are: what they refuse, it refuses with the same code. */
export const createScriptedSession = (options: ScriptedSessionOptions): ScriptedSession => {
  const producedMsByItem = new Map<string, number>()
  const openCalls = new Set<string>()
  let ids = 0
  let greeting = ''
  let settings: ScriptedSettings | undefined
  let session: Readonly<Record<string, unknown>> = { type: 'realtime', object: 'realtime.session' }
  let active: ScriptedResponse | undefined
  let speechItemId = ''
  let carry = new Uint8Array(0)
  /** What the model was told and has not answered yet. */
  let pendingText = ''
  let lastReply = silentReply
  /** Told that its last answer was not heard to its end. */
  let isCutOff = false

  const newId = (prefix: string): string => {
    ids += 1
    return `${prefix}_${ids}`
  }

  const send = (event: object): void =>
    options.send(JSON.stringify({ event_id: newId('event'), ...event }))

  const items = createScriptedItems(send)

  const refuse = (code: string, message: string, eventId?: unknown): void =>
    send({
      type: 'error',
      error: { type: 'invalid_request_error', code, message, event_id: eventId ?? null },
    })

  const respond = (reply: Reply, { codec, output, voice }: ScriptedSettings): void => {
    const response = startScriptedResponse({
      id: newId('resp'),
      newId,
      reply,
      sentences: speakSentences(reply.text, voice, codec, options.synthesizer),
      wire: output,
      send: (event) => items.sendOfResponse(event),
      onAudio: (itemId, producedMs) => remember(producedMsByItem, itemId, producedMs),
      onCall: (toolCallId) => openCalls.add(toolCallId),
      onDone: () => {
        active = undefined
      },
    })
    active = response.isOver ? undefined : response
  }

  const answerPending = (current: ScriptedSettings): void => {
    const isNew = pendingText !== ''
    if (isNew) reply(current)
    respond(isNew || isCutOff ? lastReply : silentReply, current)
    isCutOff = false
  }

  /** Works out the answer to what is pending, whether it is spoken now or was spoken in an earlier session. */
  const reply = (current: ScriptedSettings): void => {
    lastReply = current.dialogue.reply(pendingText)
    pendingText = ''
  }

  const tell = (text: string): void => {
    pendingText = `${pendingText} ${text}`.trim().slice(-maxPendingTextLength)
  }

  const speechStarted = (atMs: number): void => {
    speechItemId = newId('item')
    send({
      type: 'input_audio_buffer.speech_started',
      audio_start_ms: atMs,
      item_id: speechItemId,
    })
    if (settings?.isInterruptible) active?.cancel()
  }

  const speechStopped = (atMs: number, samples: Int16Array, current: ScriptedSettings): void => {
    const itemId = speechItemId
    send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: atMs, item_id: itemId })
    send({ type: 'input_audio_buffer.committed', item_id: itemId, previous_item_id: null })
    const transcript = options.understanding.understand(samples)
    tell(transcript)
    items.add({
      id: itemId,
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_audio', transcript }],
    })
    send({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: itemId,
      content_index: 0,
      transcript,
    })
    if (current.createsResponses && !active) answerPending(current)
  }

  const hearFrame = (g711: Uint8Array, current: ScriptedSettings): void => {
    const heard = current.ear.hear(decodeG711(current.codec, g711))
    if (heard?.kind === 'started') speechStarted(heard.atMs)
    if (heard?.kind === 'stopped') speechStopped(heard.atMs, heard.samples, current)
  }

  const hear = (base64: string): void => {
    if (!settings) return refuse('invalid_event', 'There is no session yet.')
    const heard = settings.input.fromWire(Buffer.from(base64, 'base64'))
    const g711 = new Uint8Array(carry.length + heard.length)
    g711.set(carry)
    g711.set(heard, carry.length)
    let at = 0
    for (; at + g711FrameBytes <= g711.length; at += g711FrameBytes) {
      hearFrame(g711.subarray(at, at + g711FrameBytes), settings)
    }
    carry = g711.slice(at)
  }

  const update = (event: Record<string, unknown>): void => {
    const named = (event.session ?? {}) as Readonly<Record<string, unknown>>
    const merged = mergeSession(session, named)
    const isNew = !settings || ['instructions', 'tools', 'audio'].some((member) => member in named)
    if (isNew) {
      const read = readSettings(merged, options.voiceActivity, () => greeting)
      if (!read) return refuse('invalid_value', 'Unknown audio format.', event.event_id)
      settings = read
    }
    session = merged
    send({ type: 'session.updated', session })
  }

  const createResponse = (event: Record<string, unknown>): void => {
    if (!settings) return refuse('invalid_event', 'There is no session yet.', event.event_id)
    if (active) {
      const message = `Conversation already has an active response: ${active.id}.`
      return refuse('conversation_already_has_active_response', message, event.event_id)
    }
    const verbatim = verbatimIn(event.response)
    if (verbatim === undefined) return answerPending(settings)
    greeting ||= verbatim
    respond({ text: verbatim, calls: [] }, settings)
  }

  const cancelResponse = (event: Record<string, unknown>): void => {
    if (!active) {
      return refuse('response_cancel_not_active', 'There is no active response.', event.event_id)
    }
    active.cancel()
  }

  const truncate = (event: Record<string, unknown>): void => {
    const producedMs = producedMsByItem.get(String(event.item_id))
    const endMs = Number(event.audio_end_ms)
    if (producedMs === undefined || !(endMs >= 0 && endMs <= producedMs)) {
      const message = `Audio content of ${producedMs ?? 0}ms is already shorter than ${endMs}ms.`
      return refuse('invalid_value', message, event.event_id)
    }
    send({
      type: 'conversation.item.truncated',
      item_id: event.item_id,
      content_index: 0,
      audio_end_ms: endMs,
    })
  }

  const createItem = (event: Record<string, unknown>): void => {
    const item = (event.item ?? {}) as ConversationItem
    const isAnswer = item.type === 'function_call_output'
    if (isAnswer && !openCalls.delete(String(item.call_id)))
      return refuse('invalid_tool_call_id', 'There is no such tool call.', event.event_id)
    items.add({
      ...item,
      id: typeof item.id === 'string' ? item.id : newId('item'),
      status: 'completed',
    })
    if (item.type === 'function_call') return void openCalls.add(String(item.call_id))
    if (isAnswer) {
      if (parseObject(String(item.output))?.transferred === false) tell(transferFailedNote)
      return
    }
    // What the agent has said in an earlier session answered what stood before it.
    if (item.role === 'assistant' && settings && pendingText !== '') return reply(settings)
    if (item.role === 'system') isCutOff = true
    if (item.role !== 'user') return
    for (const part of item.content ?? []) {
      if (part.type === 'input_text' && typeof part.text === 'string') tell(part.text)
    }
  }

  const retrieve = (event: Record<string, unknown>): void => {
    const item = items.find(String(event.item_id))
    if (item) return send({ type: 'conversation.item.retrieved', item })
    refuse('item_not_found', 'There is no such item.', event.event_id)
  }

  const handle = (event: Record<string, unknown>): void => {
    switch (event.type) {
      case 'session.update':
        return update(event)
      case 'input_audio_buffer.append':
        return hear(String(event.audio))
      case 'response.create':
        return createResponse(event)
      case 'response.cancel':
        return cancelResponse(event)
      case 'conversation.item.truncate':
        return truncate(event)
      case 'conversation.item.create':
        return createItem(event)
      case 'conversation.item.retrieve':
        return retrieve(event)
      default:
        return refuse('invalid_event', 'Unknown event type.', event.event_id)
    }
  }

  send({ type: 'session.created', session })
  return {
    receive(message) {
      const audio = readAppendedAudio(message)
      if (audio !== undefined) return hear(audio)
      const event = parseObject(message)
      if (event) handle(event)
      else refuse('invalid_json', 'The event is no JSON object.')
    },
    close() {
      active?.abandon()
      options.voiceActivity.close()
    },
  }
}

interface ConversationItem {
  readonly id?: unknown
  readonly type?: unknown
  readonly role?: unknown
  readonly call_id?: unknown
  readonly output?: unknown
  readonly content?: readonly { readonly type?: unknown; readonly text?: unknown }[]
}

const verbatimIn = (response: unknown): string | undefined => {
  const { instructions } = (response ?? {}) as { instructions?: unknown }
  return typeof instructions === 'string' ? readVerbatim(instructions) : undefined
}

const remember = (producedMsByItem: Map<string, number>, itemId: string, ms: number): void => {
  producedMsByItem.set(itemId, ms)
  const [oldest] = producedMsByItem.keys()
  if (producedMsByItem.size > maxTrackedItems && oldest !== undefined) {
    producedMsByItem.delete(oldest)
  }
}
