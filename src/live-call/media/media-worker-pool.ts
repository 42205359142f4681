import { backoffMs } from '../../runtime/backoff.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import { MediaUnavailableError, type MediaCall, type MediaPlane } from './media-port.ts'
import type { MediaSocketSettings, WorkerLoad } from './media-protocol.ts'
import { startMediaThread, type MediaThread } from './media-thread.ts'

export interface MediaWorkerPoolOptions {
  /** Threads; one per core that is free of other work. */
  readonly workers: number
  readonly channelsPerWorker: number
  readonly socket: MediaSocketSettings
  readonly logger: Logger
  /** Another program for the threads, in tests. */
  readonly entry?: URL
  /** After how long a silent worker is taken for hung; 5 seconds. */
  readonly heartbeatLimitMs?: number
}

export interface MediaWorkerPool extends Service, MediaPlane {
  /** The same with a socket of other settings. */
  open(callId: string, socket?: MediaSocketSettings): Promise<MediaCall>
  /** Calls that the workers carry as things are; those under way may be more, while they are late. */
  capacity(): number
  load(): WorkerLoad & { readonly workers: number }
}

/** A worker whose ticks run later than this at the 99th percentile takes no more calls: two frames. */
const maxLatenessP99Ms = 40
/** With fewer calls the lateness is not their doing (a busy laptop, a test run), and refusing would not end it. */
const leastCallsThatLoad = 8
const defaultHeartbeatLimitMs = 5_000
const restartDelay = { baseMs: 100, maxMs: 10_000 }

/** Calls go to the worker that has the fewest. A worker that dies ends its own calls, and is replaced. */
export const createMediaWorkerPool = (options: MediaWorkerPoolOptions): MediaWorkerPool => {
  const entry = options.entry ?? new URL('./media-worker.ts', import.meta.url)
  const heartbeatLimitMs = options.heartbeatLimitMs ?? defaultHeartbeatLimitMs
  const launched = new Set<MediaThread>()
  const threads = new Set<MediaThread>()
  const restarts = new Set<NodeJS.Timeout>()
  let isStopping = false
  let started: Promise<void> | undefined

  const launch = (failuresBefore: number): MediaThread => {
    const thread = startMediaThread(entry, heartbeatLimitMs, options.logger)
    let failures = failuresBefore + 1
    launched.add(thread)
    thread.ready.then(
      () => {
        failures = 0
        threads.add(thread)
      },
      () => undefined,
    )
    void thread.gone.then((reason) => {
      launched.delete(thread)
      threads.delete(thread)
      if (!isStopping) relaunch(failures, reason)
    })
    return thread
  }

  const relaunch = (failures: number, reason: string): void => {
    const delayMs = backoffMs(failures + 1, restartDelay)
    options.logger.warn({ reason, delay_ms: delayMs }, 'a media worker is started again')
    const timer = setTimeout(() => {
      restarts.delete(timer)
      launch(failures)
    }, delayMs)
    restarts.add(timer)
  }

  const capacityOf = (thread: MediaThread): number =>
    thread.load().latenessP99Ms <= maxLatenessP99Ms
      ? options.channelsPerWorker
      : Math.min(leastCallsThatLoad, options.channelsPerWorker)

  const freest = (): MediaThread | undefined =>
    [...threads]
      .filter((thread) => thread.calls() < capacityOf(thread))
      .toSorted((left, right) => left.calls() - right.calls())[0]

  const open = async (callId: string, socket = options.socket): Promise<MediaCall> => {
    const thread = freest()
    if (thread === undefined) throw new MediaUnavailableError('Every media worker is busy.')
    const call = thread.open(callId, socket)
    await call.opened
    return call
  }

  return {
    start: () =>
      (started ??= Promise.all(Array.from({ length: options.workers }, () => launch(0).ready)).then(
        () => undefined,
      )),
    stop: async () => {
      isStopping = true
      for (const timer of restarts) clearTimeout(timer)
      await Promise.all([...launched].map((thread) => thread.stop()))
    },
    open,
    capacity: () => [...threads].reduce((sum, thread) => sum + capacityOf(thread), 0),
    load: () => ({
      workers: threads.size,
      calls: [...threads].reduce((sum, thread) => sum + thread.calls(), 0),
      cpuMs: [...threads].reduce((sum, thread) => sum + thread.load().cpuMs, 0),
      latenessP99Ms: Math.max(0, ...[...threads].map((thread) => thread.load().latenessP99Ms)),
    }),
  }
}
