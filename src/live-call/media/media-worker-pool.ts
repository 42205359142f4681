import { backoffMs } from '../../runtime/backoff.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import { MediaUnavailableError, type MediaCall, type MediaPlane } from './media-port.ts'
import type { MediaSocketSettings, WorkerLoad } from './media-protocol.ts'
import { startMediaThread, type MediaThread } from './media-thread.ts'

export interface MediaWorkerPoolOptions {
  /** Threads; one per core without other work. */
  readonly workers: number
  readonly channelsPerWorker: number
  readonly socket: MediaSocketSettings
  readonly logger: Logger
  /** A different program for the threads, in tests. */
  readonly entry?: URL
  /** A worker that is silent for this long counts as hung; 5 seconds. */
  readonly heartbeatLimitMs?: number
}

/** A worker whose ticks are later than this at the 99th percentile takes no more calls: two frames. */
const maxLatenessP99Ms = 40
/** With fewer calls the lateness has another cause (a busy laptop, a test run), which refusing would not remove. */
const leastCallsThatLoad = 8
const defaultEntry = new URL('./media-worker.ts', import.meta.url)
const defaultHeartbeatLimitMs = 5_000
const restartDelay = { baseMs: 100, maxMs: 10_000 }

/** Calls go to the worker with the fewest. A worker that dies ends its own calls, and is replaced. */
export class MediaWorkerPool implements Service, MediaPlane {
  readonly #options: MediaWorkerPoolOptions
  readonly #launched = new Set<MediaThread>()
  readonly #threads = new Set<MediaThread>()
  readonly #restarts = new Set<NodeJS.Timeout>()
  #isStopping = false
  #started: Promise<void> | undefined

  constructor(options: MediaWorkerPoolOptions) {
    this.#options = options
  }

  start(): Promise<void> {
    return (this.#started ??= this.#start())
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const timer of this.#restarts) clearTimeout(timer)
    await Promise.all([...this.#launched].map((thread) => thread.stop()))
  }

  /** `socket` overrides the pool's settings; `browser`: there is none. */
  async open(
    callId: string,
    socket: MediaSocketSettings | 'browser' = this.#options.socket,
  ): Promise<MediaCall> {
    const thread = this.#freest()
    if (thread === undefined) throw new MediaUnavailableError('Every media worker is busy.')
    const call = thread.open(callId, socket)
    await call.opened
    return call
  }

  /** The number of calls that the workers can carry now; more may be active while they are late. */
  capacity(): number {
    return [...this.#threads].reduce((sum, thread) => sum + this.#capacityOf(thread), 0)
  }

  load(): WorkerLoad & { readonly workers: number } {
    const threads = [...this.#threads]
    return {
      workers: threads.length,
      calls: threads.reduce((sum, thread) => sum + thread.calls(), 0),
      cpuMs: threads.reduce((sum, thread) => sum + thread.load().cpuMs, 0),
      latenessP99Ms: Math.max(0, ...threads.map((thread) => thread.load().latenessP99Ms)),
    }
  }

  async #start(): Promise<void> {
    const { workers } = this.#options
    await Promise.all(Array.from({ length: workers }, () => this.#launch(0).ready))
  }

  #launch(failuresBefore: number): MediaThread {
    const { entry = defaultEntry, heartbeatLimitMs = defaultHeartbeatLimitMs } = this.#options
    const thread = startMediaThread(entry, heartbeatLimitMs, this.#options.logger)
    let failures = failuresBefore + 1
    this.#launched.add(thread)
    thread.ready.then(
      () => {
        failures = 0
        this.#threads.add(thread)
      },
      () => undefined,
    )
    void thread.gone.then((reason) => {
      this.#launched.delete(thread)
      this.#threads.delete(thread)
      if (!this.#isStopping) this.#relaunch(failures, reason)
    })
    return thread
  }

  #relaunch(failures: number, reason: string): void {
    const delayMs = backoffMs(failures + 1, restartDelay)
    this.#options.logger.warn({ reason, delay_ms: delayMs }, 'a media worker is started again')
    const timer = setTimeout(() => {
      this.#restarts.delete(timer)
      this.#launch(failures)
    }, delayMs)
    this.#restarts.add(timer)
  }

  #capacityOf(thread: MediaThread): number {
    const { channelsPerWorker } = this.#options
    return thread.load().latenessP99Ms <= maxLatenessP99Ms
      ? channelsPerWorker
      : Math.min(leastCallsThatLoad, channelsPerWorker)
  }

  #freest(): MediaThread | undefined {
    return [...this.#threads]
      .filter((thread) => thread.calls() < this.#capacityOf(thread))
      .toSorted((left, right) => left.calls() - right.calls())[0]
  }
}
