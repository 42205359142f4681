import { Worker } from 'node:worker_threads'
import { backoffMs } from '../../runtime/backoff.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import type { SandboxReport } from './call-journal.ts'
import { sandboxCredentials } from './personas.ts'
import type { FromSandboxWorker, SandboxWorkerData, ToSandboxWorker } from './sandbox-protocol.ts'

interface SandboxCarrierOptions {
  readonly logger: Logger
  /** SIP port on loopback; any free one by default. */
  readonly port?: number
  /**
   * The SIP port on loopback of the only allowed user agent, requested at each start of its thread; any by default.
   */
  readonly callerPort?: () => number
  /** Ports of the personas' RTP; 20002-29999 by default. */
  readonly rtpPortRange?: { readonly min: number; readonly max: number }
  /** A different program for its thread, in tests. */
  readonly entry?: URL
}

const defaultEntry = new URL('./sandbox-worker.ts', import.meta.url)
const restartDelay = { baseMs: 100, maxMs: 5000 }
/** A user agent may take two seconds to say goodbye to every caller; a thread that takes longer is ended. */
const stopLimitMs = 4000

/** A telephone network of a dozen people, on loopback, in its own thread. A thread that dies is restarted. */
export class SandboxCarrier implements Service {
  readonly #options: SandboxCarrierOptions
  readonly #askers = new Set<PromiseWithResolvers<SandboxReport>>()
  #port: number
  #worker: Worker | undefined
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #restartTimer: NodeJS.Timeout | undefined
  #deaths = 0
  #isStopped = false

  constructor(options: SandboxCarrierOptions) {
    this.#options = options
    this.#port = options.port ?? 0
  }

  start(): Promise<void> {
    return (this.#starting ??= this.#launch())
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop())
  }

  /**
   * Its address, once started, in the format of `parseTrunkUri`: `sip:user:password@127.0.0.1:port`, with its only
   * valid credentials. The same after a restart of its thread.
   */
  get target(): string {
    const { username, password } = sandboxCredentials
    return `sip:${username}:${password}@127.0.0.1:${this.#port}`
  }

  /** The events per call since its thread began. */
  report(): Promise<SandboxReport> {
    if (!this.#worker) return Promise.reject(new Error('The sandbox carrier does not run.'))
    const asker = Promise.withResolvers<SandboxReport>()
    this.#askers.add(asker)
    this.#tell({ type: 'report' })
    return asker.promise
  }

  #launch(): Promise<void> {
    const { entry = defaultEntry, callerPort, rtpPortRange } = this.#options
    const ready = Promise.withResolvers<void>()
    const data: SandboxWorkerData = {
      port: this.#port,
      callerPort: callerPort?.(),
      rtpPortRange,
    }
    const thread = new Worker(entry, { workerData: data })
    this.#worker = thread
    thread.on('message', (message: FromSandboxWorker) => this.#hear(message, ready))
    thread.on('error', (error) => {
      this.#options.logger.error({ err: error }, 'the sandbox carrier broke')
    })
    thread.on('exit', () => this.#onExit(thread, ready))
    return ready.promise
  }

  #hear(message: FromSandboxWorker, ready: PromiseWithResolvers<void>): void {
    switch (message.type) {
      case 'ready':
        this.#port = message.port
        this.#deaths = 0
        return ready.resolve()
      case 'failed':
        return ready.reject(new Error(`The sandbox carrier cannot start: ${message.reason}`))
      case 'report':
        for (const asker of this.#askers) asker.resolve(message.report)
        return this.#askers.clear()
      case 'log':
        return this.#options.logger[message.level](message.fields, message.message)
    }
  }

  #onExit(thread: Worker, ready: PromiseWithResolvers<void>): void {
    const gone = new Error('The sandbox carrier has ended.')
    ready.reject(gone)
    for (const asker of this.#askers) asker.reject(gone)
    this.#askers.clear()
    if (this.#worker === thread) this.#onDeath()
  }

  #onDeath(): void {
    this.#worker = undefined
    // It was never ready: the caller of start got the error.
    if (this.#isStopped || this.#port === 0) return
    this.#deaths++
    const delayMs = backoffMs(this.#deaths, restartDelay)
    this.#restartTimer = setTimeout(() => this.#relaunch(), delayMs)
  }

  #relaunch(): void {
    this.#launch().catch((error: unknown) =>
      this.#options.logger.error({ err: error }, 'the sandbox carrier could not be started again'),
    )
  }

  #tell(message: ToSandboxWorker): void {
    this.#worker?.postMessage(message)
  }

  async #stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#restartTimer)
    const thread = this.#worker
    if (!thread) return
    const exited = new Promise((resolve) => thread.once('exit', resolve))
    this.#tell({ type: 'stop' })
    const impatience = setTimeout(() => void thread.terminate(), stopLimitMs)
    await exited
    clearTimeout(impatience)
  }
}
