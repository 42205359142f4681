import { backoffMs } from '../runtime/backoff.ts'
import type { Logger } from '../runtime/logger.ts'
import {
  openListeningConnection,
  type ListeningConnection,
  type ListeningConnectionOptions,
} from './listening-connection.ts'

const reconnectBackoff = { baseMs: 100, maxMs: 5_000 }

type OnPayload = (payload: string) => void

interface NotificationListenerOptions extends ListeningConnectionOptions {
  readonly logger: Logger
}

/**
 * One connection that LISTENs for all channels of this process, opened for the first of them and reopened, with
 * growing delays, whenever it is lost.
 */
export class NotificationListener {
  readonly #options: NotificationListenerOptions
  readonly #subscribers = new Map<string, Set<OnPayload>>()
  #current: ListeningConnection | undefined
  #connecting: Promise<void> | undefined
  #retryTimer: NodeJS.Timeout | undefined
  #failures = 0
  #isStopped = false

  constructor(options: NotificationListenerOptions) {
    this.#options = options
  }

  /** Resolves after the first attempt to listen, successful or not: attempts continue in the background. */
  async listen(channel: string, onPayload: OnPayload): Promise<{ stop(): Promise<void> }> {
    const handlers = this.#subscribers.get(channel)
    if (handlers) handlers.add(onPayload)
    else this.#subscribers.set(channel, new Set([onPayload]))
    await this.#subscribe(channel)
    return { stop: () => this.#unsubscribe(channel, onPayload) }
  }

  /** Notifies this process's own subscribers at once, without PostgreSQL. */
  deliver(channel: string, payload: string): void {
    for (const onPayload of this.#subscribers.get(channel) ?? []) {
      try {
        onPayload(payload)
      } catch (error) {
        this.#options.logger.error({ err: error, channel }, 'notification handler failed')
      }
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#retryTimer)
    await this.#connecting
    this.#current?.close()
    this.#current = undefined
  }

  async #subscribe(channel: string): Promise<void> {
    if (!this.#current) {
      const isRetrying = this.#retryTimer !== undefined && this.#failures > 0
      return this.#connecting ?? (isRetrying ? undefined : this.#connect())
    }
    await this.#current.listen(channel).catch(() => {})
    this.deliver(channel, '')
  }

  async #unsubscribe(channel: string, onPayload: OnPayload): Promise<void> {
    const handlers = this.#subscribers.get(channel)
    handlers?.delete(onPayload)
    if (handlers?.size !== 0) return
    this.#subscribers.delete(channel)
    await this.#current?.unlisten(channel).catch(() => {})
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#open().then(
      () => {
        this.#connecting = undefined
      },
      (error: unknown) => {
        this.#connecting = undefined
        this.#onLost(error)
      },
    )
    return this.#connecting
  }

  async #open(): Promise<void> {
    const opened = await openListeningConnection(
      this.#options,
      (channel, payload) => this.deliver(channel, payload),
      (reason) => this.#onLost(reason),
    )
    const listened = new Set<string>()
    const next = () => [...this.#subscribers.keys()].find((channel) => !listened.has(channel))
    for (let channel = next(); channel !== undefined; channel = next()) {
      await opened.listen(channel)
      listened.add(channel)
    }
    if (this.#isStopped) return opened.close()
    this.#current = opened
    this.#failures = 0
    // Notifications without a listener are lost: every subscriber checks for itself.
    for (const channel of listened) this.deliver(channel, '')
  }

  #onLost(reason: unknown): void {
    this.#current = undefined
    if (this.#isStopped || this.#connecting) return
    this.#failures += 1
    const failures = this.#failures
    this.#options.logger.warn({ err: reason, failures }, 'not listening for notifications')
    const delayMs = backoffMs(failures, reconnectBackoff)
    this.#retryTimer = setTimeout(() => void this.#connect(), delayMs)
  }
}
