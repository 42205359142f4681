import type { ThreadLogMessage } from '../../runtime/thread-logger.ts'

/** The start parameters of the thread that keeps the lease. */
export interface LeaseKeeperData {
  readonly connection: object
  /** Increases while the main thread runs its timers. */
  readonly mainTurns: SharedArrayBuffer
  readonly stallLimitMs: number
}

export type ToLeaseKeeper =
  | {
      readonly type: 'keep'
      readonly nodeId: string
      /** One 64-bit integer: the end of the lease, in nanoseconds of `process.hrtime`. */
      readonly heldUntil: SharedArrayBuffer
    }
  | { readonly type: 'stop' }

export type FromLeaseKeeper = ThreadLogMessage | { readonly type: 'lost' }
