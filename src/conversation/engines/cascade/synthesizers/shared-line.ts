import type { ProviderSettings } from '../providers/provider-settings.ts'
import {
  openProviderSocket,
  type ProviderSocket,
  type SocketListener,
} from '../providers/provider-socket.ts'

interface SharedLineOptions {
  readonly settings: ProviderSettings
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly listener: SocketListener
}

/** One connection for all texts of a conversation. A lost one is opened again when the next text needs it. */
export class SharedLine {
  readonly #options: SharedLineOptions
  readonly #closing = new AbortController()
  #socket: Promise<ProviderSocket> | undefined

  constructor(options: SharedLineOptions) {
    this.#options = options
  }

  /** The open connection. Rejects with `ProviderError`. */
  socket(): Promise<ProviderSocket> {
    this.#socket ??= this.#open()
    return this.#socket
  }

  warm(): void {
    this.socket().catch(() => undefined)
  }

  /** Drops the connection with all that is under way on it, and opens another. */
  renew(): void {
    const dropped = this.#socket
    this.#socket = undefined
    void dropped?.then((socket) => socket.close()).catch(() => undefined)
    if (!this.#closing.signal.aborted) this.warm()
  }

  close(last?: object): void {
    this.#closing.abort()
    void this.#socket?.then((socket) => socket.close(last)).catch(() => undefined)
  }

  async #open(): Promise<ProviderSocket> {
    const { settings, url, headers, listener } = this.#options
    try {
      return await openProviderSocket(
        {
          url,
          headers,
          publicHostsOnly: settings.publicHostsOnly === true,
          code: 'speech_failed',
          who: 'The synthesizer',
          listener: {
            ...listener,
            onLost: (error) => {
              this.#socket = undefined
              listener.onLost(error)
            },
          },
        },
        this.#closing.signal,
      )
    } catch (error) {
      this.#socket = undefined
      throw error
    }
  }
}
