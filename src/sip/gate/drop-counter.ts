import type { Logger } from '../../runtime/logger.ts'
import { silentTelemetry, type Telemetry } from '../../runtime/telemetry.ts'
import type { Time } from '../../runtime/time.ts'

/** Why a message was dropped without a response. */
export type DropReason =
  /** Not from the trunk, the allowed networks, or a peer of an active dialog. */
  | 'stranger'
  /** The same, but about one of our calls: perhaps an address of the carrier that OUTDIAL_SIP_ALLOW lacks. */
  | 'stranger_in_call'
  /** More from one address than it may send, and about none of our calls. */
  | 'over_rate'
  /** A response that did not come from the address of its request. */
  | 'foreign_response'
  /** A request inside a dialog, from an address that is not one of its peers. */
  | 'foreign_request'
  /** The table of transactions, or the share of this dialog, is full. */
  | 'table_full'
  /** A connection of a stranger, or beyond the limit of an address. */
  | 'connection'

/** Counts dropped messages and logs them with their addresses in one line a minute, so that a flood cannot fill the log. */
export interface DropCounter {
  count(reason: DropReason, address: string): void
  /** Logs the counts since the last line. */
  stop(): void
}

const periodMs = 60_000
/** Addresses listed in one line, per reason. */
const maxTold = 5

export const createDropCounter = (
  logger: Logger,
  time: Time,
  telemetry: Telemetry = silentTelemetry,
): DropCounter => {
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
      telemetry.count('outdial_sip_dropped_messages_total', { reason })
      const known = counts.get(reason) ?? { count: 0, addresses: new Set<string>() }
      counts.set(reason, known)
      known.count += 1
      if (known.addresses.size < maxTold) known.addresses.add(address)
      cancel ??= time.after(periodMs, flush)
    },
    stop: flush,
  }
}
