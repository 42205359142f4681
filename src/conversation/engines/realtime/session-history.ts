import { g711BytesPerMs } from '../../../audio/frame.ts'
import { heardWords } from '../../engine/heard-words.ts'
import { unrecognisedText } from '../../../call-text/unrecognised-text.ts'
import type { VoiceEvent } from '../../engine/voice-engine.ts'
import type { Dialect } from './profiles.ts'
import { BoundedMap } from '../../../runtime/bounded-map.ts'

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

/** About an hour of talk. Older entries are dropped; a model can follow the conversation without them. */
const maxEntries = 400
const maxTracked = 32
const maxResultLength = 64 * 1024

type ToolEntry = Extract<Entry, { kind: 'tool' }>

/** What was said and done so far, for the next session of the same conversation. */
export class SessionHistory {
  readonly #entries: Entry[] = []
  readonly #producedMs = new BoundedMap<string, number>({ maxSize: maxTracked })
  readonly #heardParts = new BoundedMap<string, number>({ maxSize: maxTracked })

  /** Whether the last event still needs a reply of the agent. */
  get isReplyOwed(): boolean {
    const last = this.#entries.at(-1)
    if (last?.kind === 'tool') return last.result !== undefined
    return last?.kind === 'contact'
  }

  /** An agent's words count as heard until they are interrupted. */
  take(event: VoiceEvent): void {
    switch (event.type) {
      case 'audio': {
        const soFarMs = this.#producedMs.get(event.utteranceId) ?? 0
        const ms = soFarMs + event.g711.length / g711BytesPerMs
        return this.#producedMs.set(event.utteranceId, ms)
      }
      case 'agent_text':
        return this.#agentSaid(event.utteranceId, event.text)
      case 'contact_text':
        return this.#contactSaid(event.text)
      case 'tool_call': {
        const { id, name, arguments: toolArguments } = event
        return this.#add({ kind: 'tool', id, name, toolArguments, result: undefined })
      }
      case 'audio_end':
      case 'first_words':
      case 'speech_start':
      case 'speech_stop':
      case 'error':
        return undefined
    }
  }

  interrupted(utteranceId: string, playedMs: number): void {
    const producedMs = this.#producedMs.get(utteranceId) ?? 0
    const part = producedMs > 0 ? playedMs / producedMs : 0
    this.#heardParts.set(utteranceId, part)
    const entry = this.#entries.find(
      (each) => each.kind === 'agent' && each.utteranceId === utteranceId,
    )
    if (entry?.kind === 'agent') entry.text = heardWords(entry.text, part)
  }

  /** An input without speech, such as a pressed key. */
  addInput(text: string): void {
    this.#add({ kind: 'contact', text })
  }

  toolResult(toolCallId: string, result: unknown): void {
    const entry = this.#findTool(toolCallId)
    if (entry) entry.result = textOf(result)
  }

  /** A tool call and its result, for a session that has neither. */
  toolItems(toolCallId: string, result: unknown): object[] {
    const entry = this.#findTool(toolCallId)
    return entry ? itemsOf({ ...entry, result: textOf(result) }, 'ga') : []
  }

  /** As items of the protocol, oldest first. */
  items(dialect: Dialect): object[] {
    return this.#entries.flatMap((entry) => itemsOf(entry, dialect))
  }

  #add(entry: Entry): void {
    this.#entries.push(entry)
    if (this.#entries.length > maxEntries) this.#entries.shift()
  }

  #agentSaid(utteranceId: string, text: string): void {
    const heard = heardWords(text, this.#heardParts.get(utteranceId) ?? 1)
    if (heard !== '') this.#add({ kind: 'agent', utteranceId, text: heard })
  }

  #contactSaid(text: string): void {
    if (text !== '' && text !== unrecognisedText) this.#add({ kind: 'contact', text })
  }

  #findTool(id: string): ToolEntry | undefined {
    return this.#entries.find((entry) => entry.kind === 'tool' && entry.id === id) as
      ToolEntry | undefined
  }
}

const textOf = (result: unknown): string =>
  (JSON.stringify(result) ?? 'null').slice(0, maxResultLength)

const itemsOf = (entry: Entry, dialect: Dialect): object[] => {
  switch (entry.kind) {
    case 'agent': {
      if (entry.text === '') return []
      const type = dialect === 'beta' || dialect === 'qwen' ? 'text' : 'output_text'
      return [{ type: 'message', role: 'assistant', content: [{ type, text: entry.text }] }]
    }
    case 'contact':
      return [userMessage(entry.text)]
    case 'tool': {
      const { id, name, toolArguments, result } = entry
      // A call without a result follows later, together with its result.
      if (result === undefined) return []
      // Some servers take foreign calls only by ids of OpenAI's form.
      const callId = id.startsWith('call_') ? id : `call_${id}`
      const call = { call_id: callId, name, arguments: JSON.stringify(toolArguments) }
      return [
        { type: 'function_call', ...call },
        { type: 'function_call_output', call_id: callId, output: result },
      ]
    }
  }
}

export const userMessage = (text: string): object => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})

/** For a session whose predecessor broke off in the middle of a sentence. */
const cutOffText =
  '[The line broke off in the middle of your last sentence. Say that sentence again and go on.]'

/** `cutOffText` as an item of the protocol. */
export const cutOffNote = {
  type: 'message',
  role: 'system',
  content: [{ type: 'input_text', text: cutOffText }],
}
