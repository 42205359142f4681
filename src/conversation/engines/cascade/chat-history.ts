import type { ModelMessage, ToolCallPart } from 'ai'
import { heardWords } from '../../engine/heard-words.ts'
import { BoundedMap } from '../../../runtime/bounded-map.ts'

/** The conversation in the form that the model receives. */
export interface ChatHistory {
  contactSaid(text: string): void
  /** The words of an utterance; an interruption may still shorten them. */
  agentSaid(utteranceId: string, text: string, calls: readonly ToolCall[]): void
  /** Only a part was heard. */
  interrupted(utteranceId: string, heardPart: number): void
  toolReturned(call: ToolCall, result: unknown): void
  messages(): ModelMessage[]
}

/** What a server attaches to a call and wants back with it: Gemini refuses a call without its thought signature. */
export type CallMetadata = NonNullable<ToolCallPart['providerOptions']>

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
  readonly metadata?: CallMetadata
}

type Entry =
  | { readonly kind: 'contact'; readonly text: string }
  | {
      readonly kind: 'agent'
      readonly utteranceId: string
      text: string
      readonly calls: readonly ToolCall[]
      /** Keyed by the id of the tool call. */
      readonly outputs: Map<string, string>
    }

/** About an hour of talk; the oldest entries are dropped. */
const maxEntries = 400
const maxOutputLength = 64 * 1024
const maxTracked = 32

export const createChatHistory = (): ChatHistory => {
  const entries: Entry[] = []
  const heardParts = new BoundedMap<string, number>({ maxSize: maxTracked })

  const add = (entry: Entry): void => {
    entries.push(entry)
    if (entries.length > maxEntries) entries.shift()
  }

  return {
    contactSaid: (text) => add({ kind: 'contact', text }),
    agentSaid(utteranceId, text, calls) {
      const heard = heardWords(text, heardParts.get(utteranceId) ?? 1)
      if (heard === '' && calls.length === 0) return
      add({ kind: 'agent', utteranceId, text: heard, calls, outputs: new Map() })
    },
    interrupted(utteranceId, heardPart) {
      heardParts.set(utteranceId, heardPart)
      for (const entry of entries) {
        if (entry.kind === 'agent' && entry.utteranceId === utteranceId)
          entry.text = heardWords(entry.text, heardPart)
      }
    },
    toolReturned(call, result) {
      const entry = entries.findLast((each) => each.kind === 'agent' && each.calls.includes(call))
      if (entry?.kind !== 'agent') return
      entry.outputs.set(call.id, (JSON.stringify(result) ?? 'null').slice(0, maxOutputLength))
    },
    messages: () => entries.flatMap(messageOf),
  }
}

const messageOf = (entry: Entry): ModelMessage[] => {
  if (entry.kind === 'contact') return [{ role: 'user', content: entry.text }]
  const text = entry.text === '' ? [] : [{ type: 'text', text: entry.text } as const]
  const content = [...text, ...entry.calls.map(callPart)]
  if (content.length === 0) return []
  const results = entry.calls.map((call) => resultPart(call, entry.outputs.get(call.id)))
  const returned: ModelMessage[] = results.length > 0 ? [{ role: 'tool', content: results }] : []
  return [{ role: 'assistant', content }, ...returned]
}

const callPart = ({ id, name, arguments: input, metadata }: ToolCall) =>
  ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input,
    ...(metadata && { providerOptions: metadata }),
  }) as const

/** Servers refuse a tool call without a result, and a result that does not follow its call. */
const resultPart = ({ id, name }: ToolCall, output = '{"pending":true}') =>
  ({
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: { type: 'text', value: output },
  }) as const
