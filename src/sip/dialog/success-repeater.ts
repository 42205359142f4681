import { cseqOf } from '../message/headers.ts'
import type { SipResponse } from '../message/message.ts'
import type { Time } from '../../runtime/time.ts'
import { createTimers } from '../transaction/timers.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import { transactionTimeoutMs, type TransactionTiming } from '../transaction/transaction-timing.ts'

/**
 * Repeats our 2xx to an INVITE until its ACK comes, on every transport (RFC 3261 13.3.1.4). The transaction does
 * not, because only the user agents see the whole path.
 */
export interface SuccessRepeater {
  /** Sends and repeats; resolves with whether the ACK came in 64 × T1. A new 2xx replaces the previous one. */
  repeat(transaction: ServerTransaction, success: SipResponse): Promise<boolean>
  /** Whether the ACK with this sequence number was awaited. */
  acknowledge(sequence: number): boolean
  /** The other side's BYE shows that it has our 2xx. */
  confirm(): void
  stop(): void
}

export const createSuccessRepeater = (time: Time, timing: TransactionTiming): SuccessRepeater => {
  const timers = createTimers<'repeat' | 'give_up'>(time)
  let waiting: { readonly sequence: number; readonly settle: (came: boolean) => void } | undefined
  const settle = (came: boolean): void => {
    timers.clearAll()
    waiting?.settle(came)
    waiting = undefined
  }
  return {
    repeat: (transaction, success) => {
      // A newer INVITE proves that the other side has our older 2xx.
      settle(true)
      const { promise, resolve } = Promise.withResolvers<boolean>()
      waiting = { sequence: cseqOf(transaction.request).sequence, settle: resolve }
      const send = (delayMs: number): void => {
        transaction.respond(success)
        timers.set('repeat', delayMs, () => {
          send(Math.min(2 * delayMs, timing.t2Ms))
        })
      }
      send(timing.t1Ms)
      timers.set('give_up', transactionTimeoutMs(timing), () => {
        settle(false)
      })
      return promise
    },
    acknowledge: (sequence) => {
      if (waiting?.sequence !== sequence) return false
      settle(true)
      return true
    },
    confirm: () => {
      settle(true)
    },
    stop: () => {
      settle(false)
    },
  }
}
