import type { ClientEvent } from './protocol.ts'

/** Sends tool results to the server and lets the model continue once, after the last result it waits for. */
export interface ToolResults {
  /** The model called a tool. */
  called(toolCallId: string): void
  send(toolCallId: string, result: unknown, goOn?: boolean): void
  /** The model waits for no tool. */
  readonly isIdle: boolean
}

const maxOutputLength = 64 * 1024
/** No model calls more at once; further calls get results, but the model does not wait for them. */
const maxOpenCalls = 32

export const createToolResults = (
  sendEvent: (event: ClientEvent) => void,
  goOnSpeaking: () => void,
): ToolResults => {
  const open = new Set<string>()
  let isContinuationWanted = false

  return {
    called(toolCallId) {
      if (open.size < maxOpenCalls) open.add(toolCallId)
    },
    send(toolCallId, result, goOn = true) {
      open.delete(toolCallId)
      isContinuationWanted ||= goOn
      const output = (JSON.stringify(result) ?? 'null').slice(0, maxOutputLength)
      sendEvent({
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
