import type { Database } from '../../database/database.ts'
import type { Clock } from '../../runtime/time.ts'
import type { Logger } from '../../runtime/logger.ts'
import { touchApiKeys, type KeyUse } from './api-key-store.ts'
import type { FoundKey } from './principal-store.ts'

/** Uses are written together, each key once. */
const writeIntervalMs = 5_000
const maxPendingUses = 10_000

interface KeyUsesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
}

/** Notes when keys were used, and writes it every few seconds. */
export class KeyUses {
  readonly #options: KeyUsesOptions
  readonly #pending = new Map<string, KeyUse>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: KeyUsesOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), writeIntervalMs).unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.flush()
  }

  note({ apiKeyId, organizationId, revokedAt, expiresAt }: FoundKey): void {
    const at = this.#options.clock.now()
    if (revokedAt || (expiresAt && expiresAt <= at)) return
    if (this.#pending.size >= maxPendingUses && !this.#pending.has(apiKeyId)) return
    this.#pending.set(apiKeyId, { organizationId, apiKeyId, at })
  }

  /** Writes the uses noted so far. */
  async flush(): Promise<void> {
    if (this.#pending.size === 0) return
    const noted = [...this.#pending.values()]
    this.#pending.clear()
    try {
      await touchApiKeys(this.#options.database, noted)
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'last use of api keys not written')
    }
  }
}
