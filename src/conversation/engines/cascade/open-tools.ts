import type { VoiceEvent } from '../../engine/voice-engine.ts'
import type { ChatHistory, ToolCall } from './chat-history.ts'

interface ToolResult {
  readonly value: unknown
  /** Whether the model should speak after it. */
  readonly goOn: boolean
}

/** Tool calls of the model that have no result yet. */
export class OpenTools {
  readonly #history: ChatHistory
  readonly #emit: (event: VoiceEvent) => void
  readonly #waiting = new Map<string, (result: ToolResult) => void>()

  constructor(history: ChatHistory, emit: (event: VoiceEvent) => void) {
    this.#history = history
    this.#emit = emit
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** Runs the tools and records their results. Returns whether the model should continue with them. */
  async run(calls: readonly ToolCall[], signal: AbortSignal): Promise<boolean> {
    const results = await Promise.all(calls.map((call) => this.#run(call, signal)))
    for (const [index, { value }] of results.entries()) {
      const call = calls[index]
      if (call) this.#history.toolReturned(call, value)
    }
    return results.some(({ goOn }) => goOn)
  }

  /** A tool returned its result. */
  settle(toolCallId: string, value: unknown, goOn: boolean): void {
    this.#waiting.get(toolCallId)?.({ value, goOn })
  }

  async #run(call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    const { promise, resolve } = Promise.withResolvers<ToolResult>()
    this.#waiting.set(call.id, resolve)
    // Servers refuse a tool call without a result, and everything after it.
    const onAbort = (): void => resolve({ value: { error: 'Interrupted.' }, goOn: false })
    signal.addEventListener('abort', onAbort, { once: true })
    this.#emit({ type: 'tool_call', id: call.id, name: call.name, arguments: call.arguments })
    try {
      return await promise
    } finally {
      this.#waiting.delete(call.id)
      signal.removeEventListener('abort', onAbort)
    }
  }
}
