import type { Logger } from '../runtime/logger.ts'

/** At most one NOTIFY per channel and payload in this time. */
const hintIntervalMs = 20
/** More distinct hints than this within one interval are dropped: the poll finds the work. */
const maxPendingHints = 1000

export interface Hint {
  readonly channel: string
  readonly payload: string
}

export interface HintSender {
  hint(channel: string, payload: string): void
  /** Sends nothing any more, and waits for what is on its way. */
  stop(): Promise<void>
}

/**
 * Coalesces hints: the first goes out at once, the ones that follow within 20 ms become one more.
 * `send` gets all hints that are due together. A failed send is a lost hint, which must not matter.
 */
export const createHintSender = (
  send: (hints: readonly Hint[]) => Promise<unknown>,
  logger: Logger,
): HintSender => {
  const quietUntil = new Map<string, number>()
  const pending = new Map<string, Hint>()
  const sending = new Set<Promise<unknown>>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const flush = (): void => {
    timer = undefined
    const now = performance.now()
    for (const [key, until] of quietUntil) if (until <= now) quietUntil.delete(key)
    const due = [...pending].filter(([key]) => !quietUntil.has(key))
    for (const [key] of due) {
      pending.delete(key)
      quietUntil.set(key, now + hintIntervalMs)
    }
    if (due.length > 0) dispatch(due.map(([, hint]) => hint))
    if (pending.size > 0 || quietUntil.size > 0) schedule(hintIntervalMs)
  }

  const dispatch = (hints: readonly Hint[]): void => {
    const sent = send(hints)
      .catch((error: unknown) => logger.debug({ err: error }, 'hint not sent'))
      .finally(() => sending.delete(sent))
    sending.add(sent)
  }

  const schedule = (delayMs: number): void => {
    timer ??= setTimeout(flush, delayMs)
  }

  return {
    hint(channel, payload) {
      if (stopped || pending.size >= maxPendingHints) return
      const key = `${channel}\0${payload}`
      if (pending.has(key)) return
      pending.set(key, { channel, payload })
      if (!quietUntil.has(key)) flush()
      else schedule(hintIntervalMs)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      pending.clear()
      await Promise.all(sending)
    },
  }
}
