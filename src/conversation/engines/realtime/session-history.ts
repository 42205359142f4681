import { heardWords } from '../../engine/heard-words.ts'
import { unrecognisedText } from '../../../call-text/unrecognised-text.ts'
import type { VoiceEvent } from '../../engine/voice-engine.ts'
import type { Dialect } from './profiles.ts'

/** What was said and done so far, for the next session of the same conversation. */
export interface SessionHistory {
  /** An agent's words count as heard until they are interrupted. */
  take(event: VoiceEvent): void
  interrupted(utteranceId: string, playedMs: number): void
  /** Something the agent was told without speech, as a pressed key. */
  told(text: string): void
  toolResult(toolCallId: string, result: unknown): void
  /** The tool's call and its result, for a session that knows of neither. */
  toolItems(toolCallId: string, result: unknown): object[]
  /** As items of the protocol, oldest first. */
  items(dialect: Dialect): object[]
  /** Whether the agent owes a reply to the last thing that happened. */
  readonly isReplyOwed: boolean
}

type Entry =
  | { readonly kind: 'agent'; readonly utteranceId: string; text: string }
  | { readonly kind: 'contact'; readonly text: string }
  | {
      readonly kind: 'tool'
      readonly id: string
      readonly name: string
      readonly toolArguments: unknown
      result: string | undefined
    }

const bytesPerMs = 8
/** About an hour of talk. Older entries are left out: a model remembers the thread without them. */
const maxEntries = 400
const maxTracked = 32
const maxResultLength = 64 * 1024

export const createSessionHistory = (): SessionHistory => {
  const entries: Entry[] = []
  const producedMs = new Map<string, number>()
  const heardParts = new Map<string, number>()

  const add = (entry: Entry): void => {
    entries.push(entry)
    if (entries.length > maxEntries) entries.shift()
  }

  const agentSaid = (utteranceId: string, text: string): void => {
    const heard = heardWords(text, heardParts.get(utteranceId) ?? 1)
    if (heard !== '') add({ kind: 'agent', utteranceId, text: heard })
  }

  const findTool = (id: string) =>
    entries.find((entry) => entry.kind === 'tool' && entry.id === id) as
      Extract<Entry, { kind: 'tool' }> | undefined

  return {
    take(event) {
      switch (event.type) {
        case 'audio': {
          const sofar = producedMs.get(event.utteranceId) ?? 0
          track(producedMs, event.utteranceId, sofar + event.g711.length / bytesPerMs)
          return
        }
        case 'agent_text':
          return agentSaid(event.utteranceId, event.text)
        case 'contact_text':
          if (event.text !== '' && event.text !== unrecognisedText)
            add({ kind: 'contact', text: event.text })
          return
        case 'tool_call':
          return add({
            kind: 'tool',
            id: event.id,
            name: event.name,
            toolArguments: event.arguments,
            result: undefined,
          })
        case 'audio_end':
        case 'first_words':
        case 'speech_start':
        case 'speech_stop':
        case 'error':
          return
      }
    },
    interrupted(utteranceId, playedMs) {
      const produced = producedMs.get(utteranceId) ?? 0
      const part = produced > 0 ? playedMs / produced : 0
      track(heardParts, utteranceId, part)
      const entry = entries.find(
        (each) => each.kind === 'agent' && each.utteranceId === utteranceId,
      )
      if (entry?.kind === 'agent') entry.text = heardWords(entry.text, part)
    },
    told: (text) => add({ kind: 'contact', text }),
    toolResult(toolCallId, result) {
      const entry = findTool(toolCallId)
      if (entry) entry.result = textOf(result)
    },
    toolItems(toolCallId, result) {
      const entry = findTool(toolCallId)
      return entry ? itemsOf({ ...entry, result: textOf(result) }, 'ga') : []
    },
    items: (dialect) => entries.flatMap((entry) => itemsOf(entry, dialect)),
    get isReplyOwed() {
      const last = entries.at(-1)
      if (last?.kind === 'tool') return last.result !== undefined
      return last?.kind === 'contact'
    },
  }
}

const textOf = (result: unknown): string =>
  (JSON.stringify(result) ?? 'null').slice(0, maxResultLength)

const itemsOf = (entry: Entry, dialect: Dialect): object[] => {
  switch (entry.kind) {
    case 'agent': {
      if (entry.text === '') return []
      const type = dialect === 'beta' ? 'text' : 'output_text'
      return [{ type: 'message', role: 'assistant', content: [{ type, text: entry.text }] }]
    }
    case 'contact':
      return [userMessage(entry.text)]
    case 'tool': {
      const { id, name, toolArguments, result } = entry
      // A call that has no result yet comes with it, later.
      if (result === undefined) return []
      const call = { call_id: id, name, arguments: JSON.stringify(toolArguments) }
      return [
        { type: 'function_call', ...call },
        { type: 'function_call_output', call_id: id, output: result },
      ]
    }
  }
}

export const userMessage = (text: string): object => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})

const track = (values: Map<string, number>, key: string, value: number): void => {
  values.set(key, value)
  const [oldest] = values.keys()
  if (values.size > maxTracked && oldest !== undefined) values.delete(oldest)
}

/** For a session whose predecessor broke off in the middle of a sentence. */
const cutOffText =
  '[The line broke off in the middle of your last sentence. Say that sentence again and go on.]'

/** `cutOffText` as an item of the protocol. */
export const cutOffNote = {
  type: 'message',
  role: 'system',
  content: [{ type: 'input_text', text: cutOffText }],
}
