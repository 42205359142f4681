import { Worker } from 'node:worker_threads'
import { backoffMs } from '../../runtime/backoff.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { FromLeaseKeeper, LeaseKeeperData, ToLeaseKeeper } from './lease-keeper-protocol.ts'

/**
 * Renews a node's lease from a thread of its own, over a database connection of its own. The main thread parses what
 * strangers send; while it is stalled, the media threads go on talking with people. A lease that only the main thread
 * renewed would lapse, and other nodes would end calls that are not over. A process that dies takes this thread
 * along, so that its calls are given away as soon as ever; a process that is paused pauses it too.
 */
export interface LeaseKeeper {
  /** Renews the lease of this node from now on, and no other. `onLost` is called when it was taken for dead. */
  keep(nodeId: string, onLost: () => void): void
  /** Whether the lease is held by what the thread renewed; read from shared memory, and so true right after a stall. */
  isHeld(): boolean
  /** Resolves when nothing is renewed any more. */
  stop(): Promise<void>
}

export interface LeaseKeeperOptions {
  /** Where PostgreSQL is; it is copied to the thread. */
  readonly connection: object
  readonly logger: Logger
  /** How long the main thread may stand still before the process ends itself; 30 s. */
  readonly stallLimitMs?: number
  /** When the thread is started; it need not compete with the start of the program. */
  readonly startDelayMs?: number
}

/**
 * A main thread that never comes back would hold its calls for good: no cap, no hang-up of the callee would end them. Half of
 * the minute after which any call must be over (decision D3).
 */
const defaultStallLimitMs = 30_000
const defaultStartDelayMs = 2_000
const turnMs = 500
const stopLimitMs = 5_000
const restartDelay = { baseMs: 500, maxMs: 10_000 }

export const createLeaseKeeper = (options: LeaseKeeperOptions): LeaseKeeper => {
  const { logger } = options
  const mainTurns = new Int32Array(new SharedArrayBuffer(4))
  let worker: Worker | undefined
  let kept: { readonly nodeId: string; readonly onLost: () => void } | undefined
  let heldUntil = new BigInt64Array(new SharedArrayBuffer(8))
  let launchTimer: NodeJS.Timeout | undefined
  let turns: NodeJS.Timeout | undefined
  let failures = 0
  let stopping: Promise<void> | undefined

  const post = (message: ToLeaseKeeper): void => worker?.postMessage(message)

  const postKept = (): void => {
    if (kept)
      post({ type: 'keep', nodeId: kept.nodeId, heldUntil: heldUntil.buffer as SharedArrayBuffer })
  }

  const receive = (message: FromLeaseKeeper): void => {
    if (message.type === 'log') logger[message.level](message.fields, message.message)
    else if (message.type === 'lost') kept?.onLost()
  }

  const launch = (): void => {
    const workerData: LeaseKeeperData = {
      connection: options.connection,
      mainTurns: mainTurns.buffer as SharedArrayBuffer,
      stallLimitMs: options.stallLimitMs ?? defaultStallLimitMs,
    }
    const launched = new Worker(new URL('./lease-keeper-worker.ts', import.meta.url), {
      name: 'lease',
      workerData,
    })
    worker = launched
    launched.unref()
    launched.on('message', receive)
    launched.on('online', postKept)
    launched.on('error', (error) => {
      logger.error({ err: error }, 'the thread that keeps the lease broke down')
    })
    launched.on('exit', () => {
      worker = undefined
      if (stopping === undefined) relaunch()
    })
  }

  // Meanwhile the main thread renews the lease alone.
  const relaunch = (): void => {
    failures += 1
    launchTimer = setTimeout(launch, backoffMs(failures, restartDelay)).unref()
  }

  const stop = async (): Promise<void> => {
    clearTimeout(launchTimer)
    clearInterval(turns)
    const last = worker
    if (last === undefined) return
    const gone = new Promise<void>((resolve) => last.once('exit', () => resolve()))
    const impatience = setTimeout(() => void last.terminate(), stopLimitMs)
    last.ref()
    post({ type: 'stop' })
    await gone
    clearTimeout(impatience)
  }

  return {
    keep: (nodeId, onLost) => {
      kept = { nodeId, onLost }
      // New memory for each node: a late answer about the one before must not speak for this one.
      heldUntil = new BigInt64Array(new SharedArrayBuffer(8))
      turns ??= setInterval(() => Atomics.add(mainTurns, 0, 1), turnMs).unref()
      launchTimer ??= setTimeout(launch, options.startDelayMs ?? defaultStartDelayMs).unref()
      postKept()
    },
    isHeld: () => Atomics.load(heldUntil, 0) > process.hrtime.bigint(),
    stop: () => (stopping ??= stop()),
  }
}
