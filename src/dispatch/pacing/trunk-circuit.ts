import type { Database } from '../../database/database.ts'
import type { Logger } from '../../runtime/logger.ts'
import {
  changeReason,
  closeCircuit,
  openCircuit,
  proveGateway,
  takePing,
  type CircuitState,
  type GatewayFault,
  type GatewayKey,
} from './circuit-store.ts'
import { lowerPace, releasePace } from './pace-store.ts'
import { silentTelemetry, type Telemetry } from '../../runtime/telemetry.ts'
import type { Circuit, TrunkFault } from '../../telephony/circuit-carrier.ts'

interface GatewayCircuitOptions {
  readonly database: Database
  readonly gateway: GatewayKey
  /** OPTIONS: whether it can take calls; `onFault` is told in one sentence why it was not delivered. Never rejects. */
  ping(onFault: (reason: string) => void): Promise<boolean>
  /** In [0, 1). */
  readonly random?: () => number
  readonly logger: Logger
  readonly telemetry?: Telemetry
}

/** How often `step` is called. */
export const stepIntervalMs = 1_000
/** A working gateway is probed at this interval, each time a fifth sooner or later, so that nodes do not keep step. */
const watchIntervalMs = 30_000
const watchSpread = 0.2
/** Consecutive missing responses before the gateway counts as down. */
const maxMisses = 2
const silentReason = 'The trunk does not answer OPTIONS any more.'

/**
 * The circuit of one gateway of a trunk. It opens when a call could not reach it, when its credentials were refused,
 * when it is congested and names a time, or when a gateway that used to respond to OPTIONS is silent; then no node sends
 * a call there. A response to OPTIONS closes it. Where OPTIONS proves nothing, one call at a time is let through after a
 * while. Congestion without a time lowers the pace of the trunk instead.
 */
export class TrunkCircuit implements Circuit {
  readonly #options: GatewayCircuitOptions
  #hasAnswered = false
  #isSilenceLogged = false
  #misses = 0
  #down: string | undefined
  #isTrial = false
  #isHeld = false
  #stepsUntilWatch = 0
  #asking: Promise<boolean> | undefined
  /** Why the last probe could not be delivered: one sentence. */
  #fault: string | undefined

  constructor(options: GatewayCircuitOptions) {
    this.#options = options
  }

  get gateway(): GatewayKey {
    return this.#options.gateway
  }

  downReason(): string | undefined {
    return this.#down
  }

  // Never rejects: without a database no call is claimed anyway.
  async report({ cause, reason, retryAfterMs, ageMs = 0 }: TrunkFault): Promise<void> {
    const { telemetry = silentTelemetry } = this.#options
    telemetry.count('outdial_trunk_faults_total', { cause })
    try {
      if (cause === 'silence') await this.#confirmSilence(reason)
      else if (cause === 'congested' && retryAfterMs === undefined)
        await this.#slowDown({ reason, ageMs })
      else await this.#open({ cause, reason, retryAfterMs })
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the trunk’s circuit could not be opened')
    }
  }

  async prove(): Promise<void> {
    this.#misses = 0
    const [isTrial, isHeld] = [this.#isTrial, this.#isHeld]
    this.#isTrial = this.#isHeld = false
    const { database } = this.#options
    try {
      if (isHeld) await releasePace(database, this.gateway.trunk)
      if (isTrial) await proveGateway(database, this.gateway)
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the trial of a trunk could not be ended')
    }
  }

  /** Once a second, with what the database holds; undefined: the gateway is gone. */
  async step(state: CircuitState | undefined): Promise<void> {
    const { database } = this.#options
    this.#down = state?.reason ?? undefined
    this.#isTrial = state?.is_trial ?? false
    this.#isHeld = state?.is_held ?? false
    if (state === undefined) return
    const { cause, is_retry_due: isRetryDue } = state
    if (cause === null) return this.#watch()
    if (cause === 'registration') return
    if (cause === 'unreachable' && (await takePing(database, this.gateway))) {
      if (await this.#ask())
        return this.#close('works', 'the trunk answers again: calls are dialled')
      await this.#renewReason()
    }
    const provesNothing = cause !== 'unreachable' || !this.#hasAnswered
    if (isRetryDue && provesNothing)
      await this.#close('trial', 'the trunk is tried again with a call')
  }

  async #watch(): Promise<void> {
    if (this.#misses === 0 && this.#stepsUntilWatch > 0) {
      this.#stepsUntilWatch -= 1
      return
    }
    const spread = 1 + watchSpread * (2 * (this.#options.random ?? Math.random)() - 1)
    this.#stepsUntilWatch = Math.round((watchIntervalMs * spread) / stepIntervalMs) - 1
    const isFirst = !this.#hasAnswered && this.#misses === 0
    const isAlive = await this.#ask()
    if (isFirst) this.#logFirstAnswer(isAlive)
    // Many trunks never respond to OPTIONS: silence means something only from one that did.
    if (!isAlive && this.#hasAnswered && this.#misses >= maxMisses)
      await this.#open({ cause: 'unreachable', reason: silentReason })
    if (!isAlive && !this.#hasAnswered) this.#misses = 0
  }

  #logFirstAnswer(isAlive: boolean): void {
    const { logger, gateway } = this.#options
    if (isAlive) return logger.info({ ...gateway }, 'the trunk answers')
    if (this.#isSilenceLogged) return
    this.#isSilenceLogged = true
    logger.warn({ ...gateway }, 'the trunk gave no answer to OPTIONS: ./outdial doctor says more')
  }

  async #confirmSilence(reason: string): Promise<void> {
    if (!(await this.#ask())) await this.#open({ cause: 'unreachable', reason })
  }

  /** A trunk with another gateway goes on by that one; the only one gets fewer calls. */
  async #slowDown(refusal: { readonly reason: string; readonly ageMs: number }): Promise<void> {
    const { database, gateway, logger } = this.#options
    const { reason } = refusal
    const lowered = await lowerPace(database, gateway, refusal)
    if (lowered.kind === 'has_other') return this.#open({ cause: 'congested', reason })
    if (lowered.kind !== 'lowered') return
    this.#isHeld = true
    const fields = { ...gateway, reason, calls_per_second: lowered.perSecond }
    if (lowered.isFirst) logger.warn(fields, 'the carrier is congested: fewer calls are dialled')
    else logger.info(fields, 'the carrier is still congested: fewer calls are dialled')
  }

  /** One probe at a time, from any caller. */
  #ask(): Promise<boolean> {
    if (this.#asking !== undefined) return this.#asking
    this.#fault = undefined
    const pinged = this.#options.ping((reason) => {
      this.#fault = reason
    })
    return (this.#asking = pinged.then((isAlive) => {
      this.#asking = undefined
      if (isAlive) this.#hasAnswered = true
      this.#misses = isAlive ? 0 : this.#misses + 1
      return isAlive
    }))
  }

  /** An outage changes its face: a broken connection, and then an expired certificate. */
  async #renewReason(): Promise<void> {
    const reason = this.#fault
    if (reason === undefined || reason === this.#down) return
    this.#down = reason
    await changeReason(this.#options.database, this.gateway, reason)
    this.#options.logger.info({ ...this.gateway, reason }, 'the trunk still cannot be used')
  }

  /** Loud at the first opening of an outage; the trials that follow only confirm it. */
  async #open(fault: GatewayFault): Promise<void> {
    const { database, gateway, logger } = this.#options
    this.#down = fault.reason
    const opened = await openCircuit(database, gateway, fault)
    if (opened === undefined) return
    const fields = { ...gateway, reason: fault.reason, until: opened.retry_at.toISOString() }
    if (fault.cause === 'congested') logger.warn(fields, 'the trunk is congested: its calls wait')
    else if (opened.openings === 1)
      logger.error(fields, 'the trunk cannot be used: calls wait, ./outdial doctor says more')
    else logger.info(fields, 'the trunk still cannot be used')
  }

  async #close(how: 'works' | 'trial', message: string): Promise<void> {
    const { database, gateway, logger } = this.#options
    this.#misses = 0
    this.#down = undefined
    if (!(await closeCircuit(database, gateway, how))) return
    this.#isTrial = how === 'trial'
    if (how === 'works') logger.warn({ ...gateway }, message)
    else logger.info({ ...gateway }, message)
  }
}
