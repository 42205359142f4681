import { Worker } from 'node:worker_threads'
import { backoffMs } from '../../../runtime/backoff.ts'
import type { Logger } from '../../../runtime/logger.ts'
import type { Service } from '../../../runtime/service.ts'
import type { ScriptedServerMessage, ScriptedServerSettings } from './scripted-server-protocol.ts'

interface ScriptedRealtimeServerOptions {
  readonly vocabulary: readonly string[]
  readonly logger: Logger
  readonly tls?: ScriptedServerSettings['tls']
  /** Any free port if omitted. */
  readonly port?: number
}

const restartDelay = { baseMs: 100, maxMs: 5_000 }

/**
 * A model without weights on loopback, in its own thread, behind the Realtime protocol and OpenAI's
 * HTTP interface. It finds speech in the audio, matches it against its vocabulary, replies by a
 * small table of rules and speaks with Flite. A thread that dies is restarted on the same port; its
 * sessions are lost.
 */
export class ScriptedRealtimeServer implements Service {
  readonly #options: ScriptedRealtimeServerOptions
  #port: number
  #worker: Worker | undefined
  #starting: Promise<void> | undefined
  #restartTimer: NodeJS.Timeout | undefined
  #isListening = false
  #deaths = 0
  #isStopped = false

  constructor(options: ScriptedRealtimeServerOptions) {
    this.#options = options
    this.#port = options.port ?? 0
  }

  start(): Promise<void> {
    return (this.#starting ??= this.#startThread())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#restartTimer)
    await this.#worker?.terminate()
    this.#worker = undefined
  }

  /** `ws://127.0.0.1:<port>/v1/realtime`, once started; the same after a restart of its thread. */
  get url(): string {
    return `${this.#options.tls ? 'wss' : 'ws'}://${this.#address}/v1/realtime`
  }

  /** `http://127.0.0.1:<port>/v1`: transcription, chat and speech of the same model. */
  get httpUrl(): string {
    return `${this.#options.tls ? 'https' : 'http'}://${this.#address}/v1`
  }

  get #address(): string {
    if (!this.#isListening) throw new Error('The scripted voice engine has not been started.')
    return `127.0.0.1:${this.#port}`
  }

  #startThread(): Promise<void> {
    const { vocabulary, tls, logger } = this.#options
    const ready = Promise.withResolvers<void>()
    const settings: ScriptedServerSettings = { vocabulary, port: this.#port, ...(tls && { tls }) }
    const entry = new URL('./scripted-server-worker.ts', import.meta.url)
    const thread = new Worker(entry, { workerData: settings })
    this.#worker = thread
    thread.on('message', (message: ScriptedServerMessage) => {
      this.#onReady(message)
      ready.resolve()
    })
    thread.on('error', (error) => {
      logger.error({ err: error }, 'the scripted voice engine broke')
      ready.reject(error)
    })
    thread.on('exit', () => {
      ready.reject(new Error('The scripted voice engine ended before it was ready.'))
      if (this.#worker === thread) this.#onDeath()
    })
    return ready.promise
  }

  #onReady({ port }: ScriptedServerMessage): void {
    this.#port = port
    this.#isListening = true
    this.#deaths = 0
  }

  #onDeath(): void {
    this.#worker = undefined
    if (this.#isStopped || !this.#isListening) return
    this.#deaths += 1
    const delayMs = backoffMs(this.#deaths, restartDelay)
    this.#restartTimer = setTimeout(() => this.#restart(), delayMs)
  }

  #restart(): void {
    this.#startThread().catch((error: unknown) =>
      this.#options.logger.error(
        { err: error },
        'the scripted voice engine could not be started again',
      ),
    )
  }
}
