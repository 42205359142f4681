import type { Database } from '../../database/database.ts'
import type { RouteName } from '../../domains/organizations/organization-mode.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import {
  circuitState,
  closeCircuit,
  openCircuit,
  takePing,
  type TrunkFaultCause,
} from './circuit-store.ts'
import type { Circuit, TrunkFault } from '../../telephony/circuit-carrier.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import { systemTime, type Time } from '../../runtime/time.ts'

interface TrunkCircuitOptions {
  readonly database: Database
  readonly route: RouteName
  /** OPTIONS: whether any final response came. Never rejects. */
  ping(): Promise<boolean>
  readonly logger: Logger
  /** For tests with a manual clock. */
  readonly time?: Time
}

const stepIntervalMs = 1_000
/** A working trunk is probed at this interval, so that calls find an outage as seldom as possible. */
const watchIntervalMs = 10_000
/** Consecutive missing responses before the trunk counts as down. */
const maxMisses = 2
const silentReason = 'The trunk does not answer OPTIONS any more.'

/**
 * The circuit of one trunk. It opens when a call could not reach the trunk or its credentials were refused, or when
 * a trunk that used to respond to OPTIONS is silent; then no node claims a call for it. A response to OPTIONS
 * closes it. Where OPTIONS proves nothing, calls are let through after a while, at a pace that starts with one.
 */
export class TrunkCircuit implements Service, Circuit {
  readonly #options: TrunkCircuitOptions
  #hasAnswered = false
  #isSilenceLogged = false
  #misses = 0
  #downReason: string | undefined
  #stepsUntilWatch = 0
  #asking: Promise<boolean> | undefined
  #stepping: Repeating | undefined

  constructor(options: TrunkCircuitOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { time = systemTime, logger } = this.#options
    this.#stepping ??= repeat({
      name: 'circuit',
      intervalMs: stepIntervalMs,
      work: () => this.#step(),
      time,
      logger,
    })
  }

  async stop(): Promise<void> {
    await this.#stepping?.stop()
  }

  downReason(): string | undefined {
    return this.#downReason
  }

  // Never rejects: without a database no call is claimed anyway.
  async report({ cause, reason }: TrunkFault): Promise<void> {
    try {
      if (cause === 'silence') await this.#confirmSilence(reason)
      else await this.#open(cause, reason)
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the trunk’s circuit could not be opened')
    }
  }

  async #step(): Promise<void> {
    const { database, route } = this.#options
    const { cause, reason, isRetryDue } = await circuitState(database, route)
    this.#downReason = reason
    if (cause === undefined) return this.#watch()
    if (cause === 'unreachable' && (await takePing(database, route)) && (await this.#ask()))
      return this.#close('the trunk answers again: calls are dialled')
    const provesNothing = cause === 'credentials' || !this.#hasAnswered
    if (isRetryDue && provesNothing) await this.#close('the trunk is tried again with calls')
  }

  async #watch(): Promise<void> {
    if (this.#misses === 0 && this.#stepsUntilWatch > 0) {
      this.#stepsUntilWatch -= 1
      return
    }
    this.#stepsUntilWatch = watchIntervalMs / stepIntervalMs
    const isFirst = !this.#hasAnswered && this.#misses === 0
    const isAlive = await this.#ask()
    if (isFirst) this.#logFirstAnswer(isAlive)
    // Many trunks never respond to OPTIONS: silence means something only from one that did.
    if (!isAlive && this.#hasAnswered && this.#misses >= maxMisses)
      await this.#open('unreachable', silentReason)
    if (!isAlive && !this.#hasAnswered) this.#misses = 0
  }

  #logFirstAnswer(isAlive: boolean): void {
    const { logger, route } = this.#options
    if (isAlive) return logger.info({ route }, 'the trunk answers')
    if (this.#isSilenceLogged) return
    this.#isSilenceLogged = true
    logger.warn({ route }, 'the trunk gave no answer to OPTIONS: ./outdial doctor says more')
  }

  async #confirmSilence(reason: string): Promise<void> {
    if (!(await this.#ask())) await this.#open('unreachable', reason)
  }

  /** One probe at a time, from any caller. */
  #ask(): Promise<boolean> {
    return (this.#asking ??= this.#options.ping().then((isAlive) => {
      this.#asking = undefined
      if (isAlive) this.#hasAnswered = true
      this.#misses = isAlive ? 0 : this.#misses + 1
      return isAlive
    }))
  }

  async #open(cause: TrunkFaultCause, reason: string): Promise<void> {
    const { database, route, logger } = this.#options
    this.#downReason = reason
    const until = await openCircuit(database, route, cause, reason)
    if (until !== undefined)
      logger.error(
        { route, reason, until: until.toISOString() },
        'the trunk cannot be used: calls wait, ./outdial doctor says more',
      )
  }

  async #close(message: string): Promise<void> {
    const { database, route, logger } = this.#options
    this.#misses = 0
    this.#downReason = undefined
    if (await closeCircuit(database, route)) logger.warn({ route }, message)
  }
}
