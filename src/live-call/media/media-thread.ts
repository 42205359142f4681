import { Worker } from 'node:worker_threads'
import type { Logger } from '../../runtime/logger.ts'
import { createSilenceWatch } from '../../runtime/silence-watch.ts'
import { RemoteMediaCall } from './remote-media-call.ts'
import type {
  FromMediaWorker,
  MediaSocketSettings,
  ToMediaWorker,
  WorkerLoad,
} from './media-protocol.ts'

/** One media worker during its lifetime. It is never restarted: the pool creates another one. */
export interface MediaThread {
  /** Resolves when it can take calls; rejects if it died before. */
  readonly ready: Promise<void>
  /** Resolves when the thread is gone, with one sentence about the reason. Its calls have been notified. */
  readonly gone: Promise<string>
  /** Channels in use, including those being opened and closed. */
  calls(): number
  load(): WorkerLoad
  open(callId: string, socket: MediaSocketSettings | 'browser'): RemoteMediaCall
  stop(): Promise<void>
}

/**
 * A worker that still loads its modules sends nothing: on a busy machine this may take this many times the limit.
 */
const loadingLimits = 12

/**
 * `heartbeatLimitMs`: a worker that is silent for this long hangs, and is ended. It sends its load each second.
 * While this thread itself is stalled, no worker is judged.
 */
export const startMediaThread = (
  entry: URL,
  heartbeatLimitMs: number,
  logger: Logger,
): MediaThread => {
  const worker = new Worker(entry, { name: 'media' })
  const calls = new Map<number, RemoteMediaCall>()
  const ready = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<string>()
  ready.promise.catch(() => undefined)
  let load: WorkerLoad = { calls: 0, latenessP99Ms: 0, cpuMs: 0 }
  const loading = createSilenceWatch(heartbeatLimitMs * loadingLimits, performance.now())
  let silence = loading
  let lastChannel = 0
  let reason = 'The media worker ended.'

  const post = (message: ToMediaWorker): void => worker.postMessage(message)
  const judge = (): void => {
    if (!silence.tick(performance.now())) return
    reason = 'The media worker hung.'
    void worker.terminate()
  }
  let watch = setInterval(judge, loading.tickMs)
  const hasLoaded = (): void => {
    clearInterval(watch)
    silence = createSilenceWatch(heartbeatLimitMs, performance.now())
    watch = setInterval(judge, silence.tickMs)
  }

  worker.once('message', hasLoaded)
  worker.on('message', (message: FromMediaWorker) => {
    silence.heard()
    if (message.type === 'log') return logger[message.level](message.fields, message.message)
    if (message.type !== 'load') return calls.get(message.channel)?.receive(message)
    load = message.load
    ready.resolve()
  })
  worker.on('error', (error) => {
    reason = 'The media worker broke down.'
    logger.error({ err: error }, 'a media worker broke down')
  })
  worker.on('exit', () => {
    clearInterval(watch)
    ready.reject(new Error(reason))
    calls.forEach((call) => call.lost(reason))
    gone.resolve(reason)
  })

  return {
    ready: ready.promise,
    gone: gone.promise,
    calls: () => calls.size,
    load: () => load,
    open: (callId, socket) => {
      const channel = (lastChannel += 1)
      const call = new RemoteMediaCall(channel, post, () => calls.delete(channel))
      calls.set(channel, call)
      post({ type: 'open', channel, callId, socket })
      return call
    },
    stop: async () => {
      reason = 'The media worker was stopped.'
      await worker.terminate()
      await gone.promise
    },
  }
}
