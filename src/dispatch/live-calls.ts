import { CallStop, type StopReason } from '../domains/calls/lifecycle/hand-over.ts'

/** The calls that this process carries now, from claim to settled. */
export interface LiveCalls {
  /**
   * Keeps the promise until it settles. It must not reject. A requeued call may be claimed again before its
   * previous attempt has released everything: then it is here twice.
   */
  add(callId: string, run: (signal: AbortSignal) => Promise<void>): void
  abort(callId: string, reason: StopReason): void
  abortAll(reason: StopReason): void
  ids(): string[]
  size(): number
  /** Resolves when every call that is live now has settled. */
  settled(): Promise<void>
}

interface LiveCall {
  readonly callId: string
  readonly stop: AbortController
  readonly done: Promise<void>
}

/** `onSettled` is called each time a call leaves: its channel is free. */
export const createLiveCalls = (onSettled: () => void): LiveCalls => {
  const calls = new Set<LiveCall>()
  return {
    add(callId, run) {
      const stop = new AbortController()
      const done = run(stop.signal).finally(() => {
        calls.delete(call)
        onSettled()
      })
      const call = { callId, stop, done }
      calls.add(call)
    },
    abort(callId, reason) {
      for (const call of calls) if (call.callId === callId) call.stop.abort(new CallStop(reason))
    },
    abortAll(reason) {
      for (const { stop } of calls) stop.abort(new CallStop(reason))
    },
    ids: () => [...calls].map(({ callId }) => callId),
    size: () => calls.size,
    async settled() {
      await Promise.all([...calls].map(({ done }) => done))
    },
  }
}
