import type { ProviderStage } from '../../../../contract/provider-kinds.ts'
import { isWorthRetrying, ProviderError } from '../provider-error.ts'
import type { ProviderHealth } from './provider-health.ts'
import type { ProviderSettings } from './provider-settings.ts'

/** One of several providers that can do the same. */
export interface LineupMember<T> {
  readonly settings: ProviderSettings
  readonly provider: T
}

/** A provider failed. Holds no key, no number and no spoken words. */
export interface ProviderTrouble {
  readonly stage: ProviderStage
  readonly provider: string
  /** `transcription_failed`, `model_timeout`, …. */
  readonly code: string
  readonly status: number | undefined
  /** One sentence. */
  readonly reason: string
  /** The provider that took over; undefined if none was left. */
  readonly next: string | undefined
}

interface LineupOptions {
  readonly stage: ProviderStage
  readonly health: ProviderHealth
  onTrouble(trouble: ProviderTrouble): void
}

/**
 * The providers of one stage of one conversation, in the order of failover. One that works stays in use until it fails;
 * one that failed is tried again only after its rest, or if no other works.
 */
export class Lineup<T> {
  readonly #members: readonly LineupMember<T>[]
  readonly #options: LineupOptions
  #current: LineupMember<T>

  /** @param members at least one */
  constructor(members: readonly LineupMember<T>[], options: LineupOptions) {
    const [first] = members
    if (!first) throw new Error(`No provider for ${options.stage}.`)
    this.#members = members
    this.#options = options
    this.#current = members.find(({ settings }) => !options.health.isResting(settings.id)) ?? first
  }

  get current(): LineupMember<T> {
    return this.#current
  }

  get members(): readonly LineupMember<T>[] {
    return this.#members
  }

  /**
   * Attempts with one provider after the other. Rejects with the error of a provider that may work later, or else with
   * the last one; with the signal's reason if it is aborted.
   * @param attempt `isLast`: no other follows, so patience costs nothing
   */
  async run<R>(
    attempt: (member: LineupMember<T>, isLast: boolean) => Promise<R>,
    signal: AbortSignal,
  ): Promise<R> {
    const errors: unknown[] = []
    const order = this.#order()
    for (const [at, member] of order.entries()) {
      const next = order[at + 1]
      try {
        const result = await attempt(member, next === undefined)
        this.#current = member
        this.#options.health.worked(member.settings.id)
        return result
      } catch (error) {
        if (signal.aborted) throw error
        errors.push(error)
        this.#report(member, error, next)
      }
    }
    throw errors.find(isWorthRetrying) ?? errors.at(-1)
  }

  /** A provider failed after it had begun. The next one is used from now on. */
  failed(member: LineupMember<T>, error: unknown): void {
    this.#options.health.failed(member.settings.id, error)
    const [next] = this.#order()
    this.#report(member, error, next === member ? undefined : next)
    if (next) this.#current = next
  }

  #report(member: LineupMember<T>, error: unknown, next: LineupMember<T> | undefined): void {
    const { stage, health } = this.#options
    health.failed(member.settings.id, error)
    const known = error instanceof ProviderError ? error : undefined
    this.#options.onTrouble({
      stage,
      provider: member.settings.name,
      code: known?.code ?? `${stage}_failed`,
      status: known?.status,
      reason: known?.message ?? 'The provider broke.',
      next: next?.settings.name,
    })
  }

  #order(): readonly LineupMember<T>[] {
    const { health } = this.#options
    const preferred = [this.#current, ...this.#members.filter((member) => member !== this.#current)]
    const isResting = ({ settings }: LineupMember<T>): boolean => health.isResting(settings.id)
    return [
      ...preferred.filter((member) => !isResting(member)),
      ...preferred.filter((member) => isResting(member)),
    ]
  }
}
