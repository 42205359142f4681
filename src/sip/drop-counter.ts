import type { Logger } from '../runtime/logger.ts'
import type { Scheduler } from './scheduler.ts'

/** Why a message got neither an answer nor a hearing. */
export type DropReason =
  /** Not from the trunk, the allowed networks, or a peer of a standing dialog. */
  | 'stranger'
  /** More from one address than it may send, and about no call of ours. */
  | 'over_rate'
  /** A response that did not come from where its request went. */
  | 'foreign_response'
  /** A request inside a dialog, from an address that is none of its peers. */
  | 'foreign_request'
  /** The table of transactions, or the share of this dialog, is full. */
  | 'table_full'
  /** A connection of a stranger, or one too many of an address. */
  | 'connection'

/** Counts what is dropped and logs it in one line a minute, so that a flood cannot fill the log. */
export interface DropCounter {
  count(reason: DropReason): void
  /** Logs what was counted since the last line. */
  stop(): void
}

const periodMs = 60_000

export const createDropCounter = (logger: Logger, scheduler: Scheduler): DropCounter => {
  let counts: Partial<Record<DropReason, number>> = {}
  let cancel: (() => void) | undefined
  const flush = (): void => {
    cancel?.()
    cancel = undefined
    if (Object.keys(counts).length === 0) return
    logger.warn({ ...counts, period_seconds: periodMs / 1000 }, 'SIP messages were dropped')
    counts = {}
  }
  return {
    count: (reason) => {
      counts[reason] = (counts[reason] ?? 0) + 1
      cancel ??= scheduler.after(periodMs, flush)
    },
    stop: flush,
  }
}
