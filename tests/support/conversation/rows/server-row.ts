import type { IncomingHttpHeaders } from 'node:http'
import type { G711Codec } from '../../../../src/audio/g711.ts'
import type { LinkSettings } from '../../../../src/conversation/engines/realtime/link-settings.ts'

export type Json = Readonly<Record<string, unknown>>

/** How a server reads and writes the samples of a session. */
export type RowFormat =
  | { readonly kind: 'g711'; readonly codec: G711Codec }
  | { readonly kind: 'pcm'; readonly rateHz: number }

/** What a session's settings have become. */
export interface RowSession {
  input: RowFormat
  output: RowFormat
  /** `none`: no words of the callee come; `failed`: each attempt fails. */
  transcription: 'works' | 'none' | 'failed'
  instructions: string
  tools: readonly string[]
  interruptsItself: boolean
}

/** One server of the Realtime protocol as its source or documentation has it. */
export interface ServerRow {
  readonly name: string
  /** Behind `#` in the address, where the host does not tell which server it is. */
  readonly fragment?: string
  readonly settings: Omit<LinkSettings, 'url'>
  /** Whether this request is accepted. */
  admits(url: URL, headers: IncomingHttpHeaders): boolean
  readonly initial: RowSession
  /** Sent at once. */
  readonly opening: readonly Json[]
  /** Applies the settings of a `session.update` and returns the events that answer it, in order. */
  update(session: Json, state: RowSession): readonly Json[]
  /** Names of events before 2025-08. */
  readonly isBeta?: boolean
  /** Which times `speech_started` has: of the session, none, of the buffer since the last speech, or the clock's. */
  readonly speechTimes: 'session' | 'none' | 'buffer' | 'clock'
  /** Which events tell of a function call. */
  readonly callEvents: 'item' | 'arguments' | 'both'
  /** Client events that are refused, with the refusal. */
  readonly refusals?: Readonly<Record<string, Json>>
  /** A new response ends an active one without a word about it. */
  readonly replacesActive?: boolean
  /** Judges an item of `conversation.item.create`; the refusal, if any. */
  judgeItem?(item: Json): Json | undefined
  /** `response.usage` of each response. */
  readonly usage?: Json
}

export const errorEvent = (type: string, message: string, code?: string, param?: string): Json => ({
  type: 'error',
  error: {
    type,
    message,
    ...(code !== undefined && { code }),
    ...(param !== undefined && { param }),
  },
})

export const memberAt = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined),
      value,
    )

/** The first member, as a path, that the shape does not list; `*` takes whatever is below. */
export const unknownMember = (
  value: unknown,
  shape: Json,
  path = 'session',
): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  for (const [name, below] of Object.entries(value)) {
    const known = shape[name]
    if (known === undefined) return `${path}.${name}`
    const found =
      typeof known === 'object' ? unknownMember(below, known as Json, `${path}.${name}`) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

const gaFormat = { type: '*', rate: '*' }

/** All members of a session of OpenAI's present protocol. */
export const gaShape: Json = {
  type: '*',
  model: '*',
  instructions: '*',
  tools: '*',
  tool_choice: '*',
  output_modalities: '*',
  max_output_tokens: '*',
  reasoning: { effort: '*' },
  audio: {
    input: {
      format: gaFormat,
      noise_reduction: '*',
      transcription: { model: '*', language: '*', prompt: '*', keywords: '*', delay: '*' },
      turn_detection: {
        type: '*',
        threshold: '*',
        prefix_padding_ms: '*',
        silence_duration_ms: '*',
        create_response: '*',
        interrupt_response: '*',
        eagerness: '*',
        idle_timeout_ms: '*',
      },
    },
    output: { format: gaFormat, voice: '*', speed: '*' },
  },
}

/** The format that a member of the present protocol names; undefined for an unknown one. */
export const gaFormatOf = (format: unknown): RowFormat | undefined => {
  const type = memberAt(format, 'type')
  if (type === 'audio/pcmu') return { kind: 'g711', codec: 'pcmu' }
  if (type === 'audio/pcma') return { kind: 'g711', codec: 'pcma' }
  if (type !== 'audio/pcm') return undefined
  const rateHz = memberAt(format, 'rate')
  return { kind: 'pcm', rateHz: typeof rateHz === 'number' ? rateHz : 24_000 }
}

export const namesOfTools = (tools: unknown): string[] =>
  Array.isArray(tools) ? tools.map((tool) => `${Reflect.get(Object(tool), 'name')}`) : []

/** What every server takes from a `session.update`. */
export const takeCommon = (session: Json, state: RowSession): void => {
  if (typeof session['instructions'] === 'string') state.instructions = session['instructions']
  if (session['tools'] !== undefined) state.tools = namesOfTools(session['tools'])
}

export const pcm24: RowFormat = { kind: 'pcm', rateHz: 24_000 }

export const freshSession = (over: Partial<RowSession> = {}): RowSession => ({
  input: pcm24,
  output: pcm24,
  transcription: 'none',
  instructions: '',
  tools: [],
  interruptsItself: true,
  ...over,
})
