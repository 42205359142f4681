import type { ClientEvent } from './protocol.ts'

/** Sends the answers of tools back and lets the model go on once, when the last one it waits for is in. */
export interface ToolAnswers {
  /** The model called a tool. */
  called(toolCallId: string): void
  answer(toolCallId: string, result: unknown, goOn?: boolean): void
  /** No tool is waited for. */
  readonly isIdle: boolean
}

const maxOutputLength = 64 * 1024
/** No model asks for more at once; a call beyond that is answered, but not waited for. */
const maxOpenCalls = 32

export const createToolAnswers = (
  send: (event: ClientEvent) => void,
  goOnSpeaking: () => void,
): ToolAnswers => {
  const open = new Set<string>()
  let isContinuationWanted = false

  return {
    called(toolCallId) {
      if (open.size < maxOpenCalls) open.add(toolCallId)
    },
    answer(toolCallId, result, goOn = true) {
      open.delete(toolCallId)
      isContinuationWanted ||= goOn
      const output = (JSON.stringify(result) ?? 'null').slice(0, maxOutputLength)
      send({
        type: 'conversation.item.create',
        item: { type: 'function_call_output', call_id: toolCallId, output },
      })
      if (open.size > 0 || !isContinuationWanted) return
      isContinuationWanted = false
      goOnSpeaking()
    },
    get isIdle() {
      return open.size === 0
    },
  }
}
