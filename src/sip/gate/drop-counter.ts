import type { Logger } from '../../runtime/logger.ts'
import type { Time } from '../../runtime/time.ts'

/** Why a message got neither an answer nor a hearing. */
export type DropReason =
  /** Not from the trunk, the allowed networks, or a peer of a standing dialog. */
  | 'stranger'
  /** The same, but about a call of ours: perhaps an address of the carrier's that OUTDIAL_SIP_ALLOW lacks. */
  | 'stranger_in_call'
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
  count(reason: DropReason, address: string): void
  /** Logs what was counted since the last line. */
  stop(): void
}

const periodMs = 60_000
/** Addresses told in one line, of each reason. */
const maxTold = 5

export const createDropCounter = (logger: Logger, time: Time): DropCounter => {
  const counts = new Map<DropReason, { count: number; addresses: Set<string> }>()
  let cancel: (() => void) | undefined
  const flush = (): void => {
    cancel?.()
    cancel = undefined
    if (counts.size === 0) return
    const dropped = Object.fromEntries(
      [...counts].map(([reason, { count, addresses }]) => [
        reason,
        { count, from: [...addresses] },
      ]),
    )
    counts.clear()
    logger.warn({ ...dropped, period_seconds: periodMs / 1000 }, 'SIP messages were dropped')
  }
  return {
    count: (reason, address) => {
      const known = counts.get(reason) ?? { count: 0, addresses: new Set<string>() }
      counts.set(reason, known)
      known.count += 1
      if (known.addresses.size < maxTold) known.addresses.add(address)
      cancel ??= time.after(periodMs, flush)
    },
    stop: flush,
  }
}
