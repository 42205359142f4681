import type { CallAbortReason } from './run-call-port.ts'

/** The calls this process carries right now, from claim to settled. */
export interface LiveCalls {
  /** Keeps the promise until it settles. It must not reject. */
  add(callId: string, run: (signal: AbortSignal) => Promise<void>): void
  abort(callId: string, reason: CallAbortReason): void
  abortAll(reason: CallAbortReason): void
  ids(): string[]
  size(): number
  /** Resolves when every call that is live now has settled. */
  settled(): Promise<void>
}

/** `onSettled` is called each time a call leaves: its channel is free. */
export const createLiveCalls = (onSettled: () => void): LiveCalls => {
  const calls = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>()
  return {
    add(callId, run) {
      const stop = new AbortController()
      const done = run(stop.signal).finally(() => {
        calls.delete(callId)
        onSettled()
      })
      calls.set(callId, { stop, done })
    },
    abort: (callId, reason) => calls.get(callId)?.stop.abort(reason),
    abortAll(reason) {
      for (const { stop } of calls.values()) stop.abort(reason)
    },
    ids: () => [...calls.keys()],
    size: () => calls.size,
    async settled() {
      await Promise.all([...calls.values()].map((call) => call.done))
    },
  }
}
