import type { ConversationBench } from './conversation-bench.ts'

/** The arguments of each entry of this name in the bench's log. */
export const named = (bench: ConversationBench, name: string): unknown[][] =>
  bench.log.filter(([entry]) => entry === name).map(([, ...args]) => args)

/** The callee has spoken for half a second and was understood. */
export const contactSays = (bench: ConversationBench, text: string, startMs: number): void =>
  bench.emit(
    { type: 'speech_start', atMs: startMs },
    { type: 'speech_stop', atMs: startMs + 500 },
    { type: 'contact_text', text, startMs },
  )

/** The model calls a tool. */
export const call = (name: string, args: object = {}, id = 'call_1') =>
  ({ type: 'tool_call', id, name, arguments: args }) as const
