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
import type { Circuit } from '../../telephony/circuit-carrier.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import { systemTime, type Time } from '../../runtime/time.ts'

export interface TrunkCircuitOptions {
  readonly database: Database
  readonly route: RouteName
  /** OPTIONS: whether any final response came. Never rejects. */
  ping(): Promise<boolean>
  readonly logger: Logger
  /** For tests that turn the clock by hand. */
  readonly time?: Time
}

export interface TrunkCircuit extends Service, Circuit {}

const stepIntervalMs = 1_000
/** A trunk that works is asked this often, so that calls find out as seldom as possible. */
const watchIntervalMs = 10_000
/** Answers that may get lost, one after the other, before the trunk counts as down. */
const maxMisses = 2
const silentReason = 'The trunk does not answer OPTIONS any more.'

/**
 * The circuit of one trunk. It opens when a call could not reach the trunk or its credentials were refused, or when a trunk that
 * used to answer OPTIONS is silent; then no call is claimed for it on any node. An answer to OPTIONS closes it; where OPTIONS
 * proves nothing, calls are let through after a while, at a pace that rises from one.
 */
export const createTrunkCircuit = (options: TrunkCircuitOptions): TrunkCircuit => {
  const { database, route, logger, time = systemTime } = options
  let hasAnswered = false
  let isSilenceLogged = false
  let misses = 0
  let downReason: string | undefined
  let stepsUntilWatch = 0
  let asking: Promise<boolean> | undefined
  let stepping: Repeating | undefined
  let starting: Promise<void> | undefined

  const open = async (cause: TrunkFaultCause, reason: string): Promise<void> => {
    downReason = reason
    const until = await openCircuit(database, route, cause, reason)
    if (until !== undefined)
      logger.error(
        { route, reason, until: until.toISOString() },
        'the trunk cannot be used: calls wait, ./outdial doctor says more',
      )
  }

  const close = async (message: string): Promise<void> => {
    misses = 0
    downReason = undefined
    if (await closeCircuit(database, route)) logger.warn({ route }, message)
  }

  /** One question at a time, whoever asks. */
  const ask = (): Promise<boolean> =>
    (asking ??= options.ping().then((isAlive) => {
      asking = undefined
      if (isAlive) hasAnswered = true
      misses = isAlive ? 0 : misses + 1
      return isAlive
    }))

  const watch = async (): Promise<void> => {
    if (misses === 0 && stepsUntilWatch > 0) {
      stepsUntilWatch -= 1
      return
    }
    stepsUntilWatch = watchIntervalMs / stepIntervalMs
    const isFirst = !hasAnswered && misses === 0
    const isAlive = await ask()
    if (isFirst && isAlive) logger.info({ route }, 'the trunk answers')
    if (isFirst && !isAlive && !isSilenceLogged) {
      isSilenceLogged = true
      logger.warn({ route }, 'the trunk gave no answer to OPTIONS: ./outdial doctor says more')
    }
    // Many trunks never answer OPTIONS: only one that did can fall silent.
    if (!isAlive && hasAnswered && misses >= maxMisses) await open('unreachable', silentReason)
    if (!isAlive && !hasAnswered) misses = 0
  }

  const step = async (): Promise<void> => {
    const { cause, reason, isRetryDue } = await circuitState(database, route)
    downReason = reason
    if (cause === undefined) return watch()
    if (cause === 'unreachable' && (await takePing(database, route)) && (await ask()))
      return close('the trunk answers again: calls are dialled')
    const provesNothing = cause === 'credentials' || !hasAnswered
    if (isRetryDue && provesNothing) await close('the trunk is tried again with calls')
  }

  const confirmSilence = async (reason: string): Promise<void> => {
    if (!(await ask())) await open('unreachable', reason)
  }

  return {
    downReason: () => downReason,
    report: ({ cause, reason }) =>
      (cause === 'silence' ? confirmSilence(reason) : open(cause, reason)).catch((error: unknown) =>
        logger.warn({ err: error }, 'the trunk’s circuit could not be opened'),
      ),
    start: () => {
      stepping ??= repeat({
        name: 'circuit',
        intervalMs: stepIntervalMs,
        work: step,
        time,
        logger,
      })
      return (starting ??= Promise.resolve())
    },
    stop: async () => stepping?.stop(),
  }
}
