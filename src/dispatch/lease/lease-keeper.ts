import { Worker } from 'node:worker_threads'
import { backoffMs } from '../../runtime/backoff.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { FromLeaseKeeper, LeaseKeeperData, ToLeaseKeeper } from './lease-keeper-protocol.ts'

interface LeaseKeeperOptions {
  /** PostgreSQL's connection settings, copied to the thread. */
  readonly connection: object
  readonly logger: Logger
  /** How long the main thread may hang before the process ends itself; 30 s. */
  readonly stallLimitMs?: number
  /** When the thread starts; it need not compete with the program's start. */
  readonly startDelayMs?: number
}

/**
 * A main thread that hangs permanently would hold its calls: neither a cap nor the callee's hang-up would end them.
 * This is half of the minute after which any call must be over (decision D3).
 */
const defaultStallLimitMs = 30_000
const defaultStartDelayMs = 2_000
const turnMs = 500
const stopLimitMs = 5_000
const restartDelay = { baseMs: 500, maxMs: 10_000 }

/**
 * Renews a node's lease from its own thread, over its own database connection. The main thread parses strangers'
 * messages; while it is stalled, the media threads continue the conversations. A lease renewed only by the main
 * thread would expire, and other nodes would end active calls. A process that dies also ends this thread, so its
 * calls are released just as soon; a process that is paused pauses it too.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  readonly #mainTurns = new Int32Array(new SharedArrayBuffer(4))
  #heldUntil = new BigInt64Array(new SharedArrayBuffer(8))
  #kept: { readonly nodeId: string; readonly onLost: () => void } | undefined
  #worker: Worker | undefined
  #launchTimer: NodeJS.Timeout | undefined
  #turns: NodeJS.Timeout | undefined
  #failures = 0
  #stopping: Promise<void> | undefined

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
  }

  /**
   * Renews the lease of this node from now on, and no other. `onLost` is called when the node was declared dead.
   */
  keep(nodeId: string, onLost: () => void): void {
    this.#kept = { nodeId, onLost }
    // New memory for each node: a late result for the previous one must not count for this one.
    this.#heldUntil = new BigInt64Array(new SharedArrayBuffer(8))
    this.#turns ??= setInterval(() => Atomics.add(this.#mainTurns, 0, 1), turnMs).unref()
    const { startDelayMs = defaultStartDelayMs } = this.#options
    this.#launchTimer ??= setTimeout(() => this.#launch(), startDelayMs).unref()
    this.#postKept()
  }

  /**
   * Whether the lease is valid by the thread's renewals; read from shared memory, and so correct right after a
   * stall.
   */
  isHeld(): boolean {
    return Atomics.load(this.#heldUntil, 0) > process.hrtime.bigint()
  }

  /** Resolves when no renewal happens any more. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop())
  }

  #launch(): void {
    const { connection, logger, stallLimitMs = defaultStallLimitMs } = this.#options
    const mainTurns = this.#mainTurns.buffer as SharedArrayBuffer
    const workerData: LeaseKeeperData = { connection, mainTurns, stallLimitMs }
    const launched = new Worker(new URL('./lease-keeper-worker.ts', import.meta.url), {
      name: 'lease',
      workerData,
    })
    this.#worker = launched
    launched.unref()
    launched.on('message', (message: FromLeaseKeeper) => this.#receive(message))
    launched.on('online', () => this.#postKept())
    launched.on('error', (error) => {
      logger.error({ err: error }, 'the thread that keeps the lease broke down')
    })
    launched.on('exit', () => this.#onExit())
  }

  #receive(message: FromLeaseKeeper): void {
    if (message.type === 'log') this.#options.logger[message.level](message.fields, message.message)
    else if (message.type === 'lost') this.#kept?.onLost()
  }

  // Meanwhile the main thread renews the lease alone.
  #onExit(): void {
    this.#worker = undefined
    if (this.#stopping !== undefined) return
    this.#failures += 1
    const delayMs = backoffMs(this.#failures, restartDelay)
    this.#launchTimer = setTimeout(() => this.#launch(), delayMs).unref()
  }

  #postKept(): void {
    if (this.#kept === undefined) return
    const { nodeId } = this.#kept
    this.#post({ type: 'keep', nodeId, heldUntil: this.#heldUntil.buffer as SharedArrayBuffer })
  }

  #post(message: ToLeaseKeeper): void {
    this.#worker?.postMessage(message)
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#launchTimer)
    clearInterval(this.#turns)
    const last = this.#worker
    if (last === undefined) return
    const gone = new Promise<void>((resolve) => last.once('exit', () => resolve()))
    const impatience = setTimeout(() => void last.terminate(), stopLimitMs)
    last.ref()
    this.#post({ type: 'stop' })
    await gone
    clearTimeout(impatience)
  }
}
