/**
 * The part of the OpenAI Realtime protocol (GA) that a phone call needs, as implemented by OpenAI, Azure, xAI,
 * Inworld, Qwen, LocalAI, speaches, speech-to-speech, vLLM-Omni and our own sandbox. Names and members are the protocol's.
 */
export type ClientEvent =
  | { readonly type: 'session.update'; readonly session: object }
  | { readonly type: 'response.create'; readonly event_id: string; readonly response?: object }
  | { readonly type: 'response.cancel'; readonly response_id?: string }
  | { readonly type: 'conversation.item.create'; readonly item: object }
  | { readonly type: 'conversation.item.delete'; readonly item_id: string }
  | {
      readonly type: 'conversation.item.truncate'
      readonly item_id: string
      readonly content_index: 0
      readonly audio_end_ms: number
    }

export type ServerEvent =
  | { readonly type: 'session.created' | 'session.updated'; readonly session?: unknown }
  | {
      readonly type: 'input_audio_buffer.speech_started'
      readonly item_id: string
      /** Some servers leave it out. */
      readonly audio_start_ms?: unknown
    }
  | {
      readonly type: 'input_audio_buffer.speech_stopped'
      readonly item_id: string
      readonly audio_end_ms?: unknown
    }
  | {
      readonly type: 'conversation.item.input_audio_transcription.completed'
      readonly item_id: string
      readonly transcript: string
    }
  | {
      readonly type: 'conversation.item.input_audio_transcription.failed'
      readonly item_id: string
    }
  | { readonly type: 'response.created'; readonly response: { readonly id: string } }
  | {
      readonly type: 'response.output_audio.delta'
      readonly response_id: string
      readonly item_id: string
      readonly delta: string
    }
  | { readonly type: 'response.output_audio.done'; readonly item_id: string }
  | {
      readonly type: 'response.output_audio_transcript.delta'
      readonly response_id: string
      readonly item_id: string
      readonly delta: string
    }
  | {
      readonly type: 'response.output_audio_transcript.done'
      readonly response_id: string
      readonly item_id: string
      readonly transcript: string
    }
  | { readonly type: 'response.output_item.done'; readonly item: OutputItem }
  | {
      readonly type: 'response.function_call_arguments.done'
      readonly call_id: string
      /** JSON text. */
      readonly arguments: string
      /** OpenAI's own events lack it; its `response.output_item.done` has it. */
      readonly name?: unknown
    }
  | { readonly type: 'response.done'; readonly response: FinishedResponse }
  | { readonly type: 'error'; readonly error: ProtocolError }

export interface OutputItem {
  readonly type: string
  readonly id?: string
  readonly call_id?: string
  readonly name?: string
  /** JSON text. */
  readonly arguments?: string
}

export interface FinishedResponse {
  readonly id: string
  readonly status?: string
  readonly status_details?: { readonly error?: ProtocolError | null } | null
  readonly usage?: ResponseUsage | null
  readonly output?: readonly (OutputItem | null)[] | null
}

/** Qwen writes `…_tokens_details`, the others `…_token_details`. */
export interface ResponseUsage {
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly input_token_details?: TokenDetails | null
  readonly output_token_details?: TokenDetails | null
  readonly input_tokens_details?: TokenDetails | null
  readonly output_tokens_details?: TokenDetails | null
}

interface TokenDetails {
  readonly audio_tokens?: number | null
  readonly cached_tokens?: number | null
  readonly cached_tokens_details?: { readonly audio_tokens?: number | null } | null
}

export interface ProtocolError {
  readonly type?: string
  readonly code?: string | null
  readonly message?: string
  readonly param?: string | null
  /** Id of the refused client event. */
  readonly event_id?: string | null
}

type Shape = Readonly<Record<string, 'string' | 'number' | 'object'>>

/** The members that we need of each event; unlisted events are ignored. */
const shapes: { readonly [Type in ServerEvent['type']]: Shape } = {
  'session.created': {},
  'session.updated': {},
  'input_audio_buffer.speech_started': { item_id: 'string' },
  'input_audio_buffer.speech_stopped': { item_id: 'string' },
  'conversation.item.input_audio_transcription.completed': {
    item_id: 'string',
    transcript: 'string',
  },
  'conversation.item.input_audio_transcription.failed': { item_id: 'string' },
  'response.created': { response: 'object' },
  'response.output_audio.delta': { response_id: 'string', item_id: 'string', delta: 'string' },
  'response.output_audio.done': { item_id: 'string' },
  'response.output_audio_transcript.delta': {
    response_id: 'string',
    item_id: 'string',
    delta: 'string',
  },
  'response.output_audio_transcript.done': {
    response_id: 'string',
    item_id: 'string',
    transcript: 'string',
  },
  'response.output_item.done': { item: 'object' },
  'response.function_call_arguments.done': { call_id: 'string', arguments: 'string' },
  'response.done': { response: 'object' },
  error: { error: 'object' },
}

/** Names of the beta protocol that self-hosted servers still send. */
const formerNames: Readonly<Record<string, ServerEvent['type']>> = {
  'response.audio.delta': 'response.output_audio.delta',
  'response.audio.done': 'response.output_audio.done',
  'response.audio_transcript.delta': 'response.output_audio_transcript.delta',
  'response.audio_transcript.done': 'response.output_audio_transcript.done',
}

/** The event, or `undefined` if it is unknown, unneeded or unreadable. Never throws. */
export const parseServerEvent = (text: string): ServerEvent | undefined => {
  const event = parseObject(text)
  if (!event || typeof event.type !== 'string') return undefined
  const type = formerNames[event.type] ?? event.type
  if (!Object.hasOwn(shapes, type)) return undefined
  const shape = shapes[type as ServerEvent['type']]
  for (const [member, kind] of Object.entries(shape)) {
    if (typeof event[member] !== kind || event[member] === null) return undefined
  }
  return { ...event, type } as ServerEvent
}

/** The JSON object in the text, or `undefined`. */
export const parseObject = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

const appendBegin = '{"type":"input_audio_buffer.append","audio":"'
const appendEnd = '"}'

/** Written by hand because each call sends ten to twenty-five a second; base64 needs no escaping. */
export const appendEvent = (audio: Buffer): Buffer =>
  Buffer.from(`${appendBegin}${audio.toString('base64')}${appendEnd}`, 'latin1')

/**
 * The audio of an `input_audio_buffer.append` in our own format, without parsing JSON; `undefined` for anything
 * else.
 */
export const readAppendedAudio = (text: string): string | undefined =>
  text.startsWith(appendBegin) && text.endsWith(appendEnd)
    ? text.slice(appendBegin.length, -appendEnd.length)
    : undefined

const verbatimBegin =
  'Say exactly the following text, word for word, in its own language, and nothing else:\n\n'

/** Response instructions that make the model speak exactly this text. */
export const verbatimInstructions = (text: string): string => verbatimBegin + text

/** The text that a model was instructed to speak word for word. */
export const readVerbatim = (instructions: string): string | undefined =>
  instructions.startsWith(verbatimBegin) ? instructions.slice(verbatimBegin.length) : undefined
