/** Runs the tools that are not built in, and keeps the model from waiting for them for ever. */
export interface ToolRunner {
  start(toolCallId: string, name: string, toolArguments: unknown): void
  /** One tick. `true` once when a tool has kept everybody waiting so long that the agent should say so. */
  tick(): boolean
}

export type RunTool = (name: string, toolArguments: unknown) => Promise<unknown>

const frameMs = 20
const timeoutMs = 8_000
const noticeableMs = 700
const maxRunning = 8

/** `answer` is called exactly once for each tool call: with the result, or with an `error` for the model to read. */
export const createToolRunner = (
  run: RunTool | undefined,
  answer: (toolCallId: string, result: unknown) => void,
): ToolRunner => {
  const running = new Map<string, { waitedMs: number }>()

  const settle = (toolCallId: string, result: unknown): void => {
    if (running.delete(toolCallId)) answer(toolCallId, result)
  }

  return {
    start(toolCallId, name, toolArguments) {
      if (!run) return answer(toolCallId, { error: 'There is no such tool.' })
      if (running.size >= maxRunning)
        return answer(toolCallId, { error: 'Too many tools at once.' })
      running.set(toolCallId, { waitedMs: 0 })
      run(name, toolArguments).then(
        (result) => settle(toolCallId, result),
        () => settle(toolCallId, { error: 'The tool failed.' }),
      )
    },
    tick() {
      let isNoticeable = false
      for (const [toolCallId, tool] of running) {
        tool.waitedMs += frameMs
        if (tool.waitedMs === noticeableMs) isNoticeable = true
        if (tool.waitedMs >= timeoutMs) settle(toolCallId, { error: 'The tool took too long.' })
      }
      return isNoticeable
    },
  }
}
