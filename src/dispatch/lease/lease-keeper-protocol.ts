import type { ThreadLogMessage } from '../../runtime/thread-logger.ts'

/** What the thread that keeps the lease is started with. */
export interface LeaseKeeperData {
  readonly connection: object
  /** Rises while the main thread runs its timers. */
  readonly mainTurns: SharedArrayBuffer
  readonly stallLimitMs: number
}

export type ToLeaseKeeper =
  | {
      readonly type: 'keep'
      readonly nodeId: string
      /** One 64-bit integer: until when the lease is held, in nanoseconds of `process.hrtime`. */
      readonly heldUntil: SharedArrayBuffer
    }
  | { readonly type: 'stop' }

export type FromLeaseKeeper = ThreadLogMessage | { readonly type: 'lost' }
