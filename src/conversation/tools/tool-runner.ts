import { frameMs } from '../../audio/frame.ts'

/** Runs the tools that are not built in, and limits how long the model waits for each. */
export interface ToolRunner {
  start(toolCallId: string, name: string, toolArguments: unknown): void
  /** One tick. Returns true once, when a tool has run so long that the agent should mention it. */
  tick(): boolean
}

type RunTool = (name: string, toolArguments: unknown) => Promise<unknown>

const timeoutMs = 8_000
const noticeableMs = 700
const maxRunning = 8

/** `onResult` is called exactly once for each tool call: with the result, or with an `error` for the model to read. */
export const createToolRunner = (
  run: RunTool | undefined,
  onResult: (toolCallId: string, result: unknown) => void,
): ToolRunner => {
  const running = new Map<string, { waitedMs: number }>()

  const settle = (toolCallId: string, result: unknown): void => {
    if (running.delete(toolCallId)) onResult(toolCallId, result)
  }

  return {
    start(toolCallId, name, toolArguments) {
      if (!run) return onResult(toolCallId, { error: 'There is no such tool.' })
      if (running.size >= maxRunning)
        return onResult(toolCallId, { error: 'Too many tools at once.' })
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
