import { Worker } from 'node:worker_threads'
import { backoffMs } from '../../runtime/backoff.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import type { SandboxReport } from './call-journal.ts'
import { sandboxCredentials } from './personas.ts'
import type { FromSandboxWorker, SandboxWorkerData, ToSandboxWorker } from './sandbox-protocol.ts'

export interface SandboxCarrierOptions {
  readonly logger: Logger
  /** SIP port on loopback; any free one without it. */
  readonly port?: number
  /** The SIP port on loopback of the one user agent that may call, asked at each start of its thread; any without it. */
  readonly callerPort?: () => number
  /** Ports of the personas' RTP; 20002-29999 without it. */
  readonly rtpPortRange?: { readonly min: number; readonly max: number }
  /** Another program for its thread, in tests. */
  readonly entry?: URL
}

export interface SandboxCarrier extends Service {
  /**
   * Where it listens, once started, as `parseTrunkUri` reads it: `sip:user:password@127.0.0.1:port`, with the only
   * credentials it knows. The same after a restart of its thread.
   */
  readonly target: string
  /** What happened per call since its thread began. */
  report(): Promise<SandboxReport>
}

const restartDelay = { baseMs: 100, maxMs: 5000 }
/** Saying goodbye to every caller may take a user agent two seconds; a thread that takes longer is ended. */
const stopLimitMs = 4000

/** A telephone network of a dozen people, on loopback, in a thread of its own. A thread that dies is started again. */
export const createSandboxCarrier = (options: SandboxCarrierOptions): SandboxCarrier => {
  const entry = options.entry ?? new URL('./sandbox-worker.ts', import.meta.url)
  let port = options.port ?? 0
  let worker: Worker | undefined
  let starting: Promise<void> | undefined
  let restartTimer: NodeJS.Timeout | undefined
  let deaths = 0
  let isStopped = false
  const askers = new Set<PromiseWithResolvers<SandboxReport>>()

  const hear = (message: FromSandboxWorker, ready: PromiseWithResolvers<void>): void => {
    switch (message.type) {
      case 'ready':
        port = message.port
        deaths = 0
        return ready.resolve()
      case 'failed':
        return ready.reject(new Error(`The sandbox carrier cannot start: ${message.reason}`))
      case 'report':
        for (const asker of askers) asker.resolve(message.report)
        return askers.clear()
      case 'log':
        return options.logger[message.level](message.fields, message.message)
    }
  }

  const launch = (): Promise<void> => {
    const ready = Promise.withResolvers<void>()
    const data: SandboxWorkerData = {
      port,
      callerPort: options.callerPort?.(),
      rtpPortRange: options.rtpPortRange,
    }
    const thread = new Worker(entry, { workerData: data })
    worker = thread
    thread.on('message', (message: FromSandboxWorker) => hear(message, ready))
    thread.on('error', (error) => {
      options.logger.error({ err: error }, 'the sandbox carrier broke')
    })
    thread.on('exit', () => {
      const gone = new Error('The sandbox carrier has ended.')
      ready.reject(gone)
      for (const asker of askers) asker.reject(gone)
      askers.clear()
      if (worker === thread) onDeath()
    })
    return ready.promise
  }

  const onDeath = (): void => {
    worker = undefined
    // Never been ready: whoever started it was told.
    if (isStopped || port === 0) return
    deaths++
    restartTimer = setTimeout(
      () => {
        launch().catch((error: unknown) =>
          options.logger.error({ err: error }, 'the sandbox carrier could not be started again'),
        )
      },
      backoffMs(deaths, restartDelay),
    )
  }

  const tell = (message: ToSandboxWorker): void => worker?.postMessage(message)

  const stop = async (): Promise<void> => {
    isStopped = true
    clearTimeout(restartTimer)
    const thread = worker
    if (!thread) return
    const exited = new Promise((resolve) => thread.once('exit', resolve))
    tell({ type: 'stop' })
    const impatience = setTimeout(() => void thread.terminate(), stopLimitMs)
    await exited
    clearTimeout(impatience)
  }

  let stopping: Promise<void> | undefined
  return {
    start: () => (starting ??= launch()),
    stop: () => (stopping ??= stop()),
    get target() {
      const { username, password } = sandboxCredentials
      return `sip:${username}:${password}@127.0.0.1:${port}`
    },
    report() {
      if (!worker) return Promise.reject(new Error('The sandbox carrier does not run.'))
      const asker = Promise.withResolvers<SandboxReport>()
      askers.add(asker)
      tell({ type: 'report' })
      return asker.promise
    },
  }
}
