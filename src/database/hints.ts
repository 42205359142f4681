import type { Logger } from '../runtime/logger.ts'

/** At most one NOTIFY per channel and payload in this time. */
const hintIntervalMs = 20
/** Beyond this many distinct waiting hints, further ones are dropped: polling finds the work. */
const maxPendingHints = 1000

export interface Hint {
  readonly channel: string
  readonly payload: string
}

interface HintSender {
  hint(channel: string, payload: string): void
  /** Sends no more hints, and waits for those being sent. */
  stop(): Promise<void>
}

/**
 * Coalesces hints: the first of its kind is sent at once, those that follow within 20 ms become one more. `send`
 * gets all hints that are due together, one call at a time: while it runs, others gather. A failed send is a lost
 * hint, which must not matter.
 */
export const createHintSender = (
  send: (hints: readonly Hint[]) => Promise<unknown>,
  logger: Logger,
): HintSender => {
  const pending = new Map<string, Hint>()
  /** When a sent hint may be sent again, oldest first. */
  const quietUntilMs = new Map<string, number>()
  let sending: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  const flush = (): void => {
    if (sending || isStopped) return
    const due = [...pending].filter(([key]) => !quietUntilMs.has(key))
    if (due.length === 0) return
    const againMs = performance.now() + hintIntervalMs
    for (const [key] of due) {
      pending.delete(key)
      quietUntilMs.set(key, againMs)
    }
    timer ??= setTimeout(tick, hintIntervalMs)
    sending = send(due.map(([, hint]) => hint))
      .catch((error: unknown) => logger.debug({ err: error }, 'hint not sent'))
      .then(() => {
        sending = undefined
        flush()
      })
  }

  const tick = (): void => {
    const nowMs = performance.now()
    for (const [key, untilMs] of quietUntilMs) if (untilMs <= nowMs) quietUntilMs.delete(key)
    timer = quietUntilMs.size > 0 ? setTimeout(tick, hintIntervalMs) : undefined
    flush()
  }

  return {
    hint(channel, payload) {
      const key = `${channel}\0${payload}`
      if (isStopped || pending.has(key) || pending.size >= maxPendingHints) return
      pending.set(key, { channel, payload })
      if (!quietUntilMs.has(key)) flush()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      pending.clear()
      await sending
    },
  }
}
