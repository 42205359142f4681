import type { VoiceEvent } from '../../engine/voice-engine.ts'
import { parseObject, type OutputItem, type ServerEvent } from './protocol.ts'

type ToolCall = Extract<VoiceEvent, { type: 'tool_call' }>
type ArgumentsDone = Extract<ServerEvent, { type: 'response.function_call_arguments.done' }>

/**
 * The model's calls of tools. Servers report a call by its finished item, by its finished arguments, in the finished
 * response, or by several of these: each call counts once.
 */
interface ModelCalls {
  ofItem(item: OutputItem): ToolCall | undefined
  ofArguments(event: ArgumentsDone): ToolCall | undefined
}

/** No server repeats a call later than this many calls after it. */
const maxKnown = 64

export const createModelCalls = (): ModelCalls => {
  const known = new Set<string>()

  const take = (id: string, name: string, args: string | undefined): ToolCall | undefined => {
    if (known.has(id)) return undefined
    known.add(id)
    for (const oldest of known) {
      if (known.size <= maxKnown) break
      known.delete(oldest)
    }
    return { type: 'tool_call', id, name, arguments: parseObject(args ?? '{}') ?? {} }
  }

  return {
    ofItem: ({ type, call_id: id, name, arguments: args }) =>
      type === 'function_call' && id && name ? take(id, name, args) : undefined,
    ofArguments: ({ call_id: id, name, arguments: args }) =>
      typeof name === 'string' && name !== '' ? take(id, name, args) : undefined,
  }
}
