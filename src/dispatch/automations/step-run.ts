import { isRetryable } from '../../database/errors.ts'
import { backoffMs } from '../../runtime/backoff.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { ClaimedRun } from './claim-runs.ts'
import {
  commitMoves,
  isOfRunAlone,
  RunSupersededError,
  type CommitOptions,
  type Move,
} from './commit-effect.ts'
import type { DefinitionCache } from './definition-cache.ts'
import { goesOn, type Effect } from '../../domains/automations/stepping/effect.ts'
import { endFaultyRun, storeFault } from './fault-store.ts'
import { afterMove, loadRun, type LoadedRun } from './load-run.ts'
import type { RunState } from '../../domains/automations/stepping/run-facts.ts'
import { stateAfter } from '../../domains/automations/stepping/state-after.ts'
import { nextEffect } from '../../domains/automations/stepping/step.ts'

export interface StepOptions extends CommitOptions {
  readonly definitions: DefinitionCache
  readonly logger: Logger
  /** For tests with a manual clock; by default the database's clock. */
  readonly now?: (() => Date) | undefined
}

/** Moves of one run in one turn; loops contain a wait, so there are seldom more than a few. */
const maxMovesPerTurn = 250
/** How often a run that others keep changing is loaded again before its lease is left to expire. */
const maxSuperseded = 5
/** Faults at one position after which a run fails `internal_error`: about a minute of retries. */
export const maxFaults = 6
const faultDelay = { baseMs: 1_000, maxMs: 30_000 }

/**
 * Steps a run as far as possible now: until it waits, its call is queued, or it ends. Rejects only without a
 * database; the run is due again when its lease expires. Returns how many moves were made.
 */
export const stepRun = async (options: StepOptions, claimed: ClaimedRun): Promise<number> => {
  try {
    return await advance(options, claimed)
  } catch (error) {
    if (isRetryable(error)) throw error
    await noteFault(options, claimed, error)
    return 0
  }
}

const advance = async (options: StepOptions, claimed: ClaimedRun): Promise<number> => {
  const { database, definitions, now } = options
  let superseded = 0
  let committed = 0
  /** Moves from step to step that commit with their final effect, because each commit waits for the disk. */
  let leading: Move[] = []
  let run: LoadedRun | undefined
  while (committed + leading.length < maxMovesPerTurn) {
    run ??= await loadRun(database, claimed, definitions, now?.())
    if (!run) return committed
    const move = { run, effect: nextEffect(run.definition, run.state, run.facts) }
    if (goesOn(move.effect)) {
      leading.push(move)
      run = await afterMove(database, run, stateAfterEffect(run, move.effect))
      continue
    }
    const parts = isOfRunAlone(move.effect) ? [[...leading, move]] : [leading, [move]]
    leading = []
    if (await areCommitted(options, parts)) {
      committed += parts.flat().length
      if (!isDueAgain(move.effect, run)) return committed
    } else {
      superseded += 1
      if (superseded >= maxSuperseded) return committed
    }
    run = undefined
  }
  await areCommitted(options, [leading])
  return maxMovesPerTurn
}

/** False: another transaction changed the run since it was loaded; the parts from there on are not committed. */
const areCommitted = async (
  options: StepOptions,
  parts: readonly (readonly Move[])[],
): Promise<boolean> => {
  try {
    for (const part of parts) {
      if (part.length > 0) await commitMoves(options, part)
      for (const move of part) report(move, options.logger)
    }
    return true
  } catch (error) {
    if (error instanceof RunSupersededError) return false
    throw error
  }
}

const stateAfterEffect = (run: LoadedRun, effect: Effect): RunState =>
  stateAfter(run.state, effect, run.facts.nowMs)

const isDueAgain = (effect: Effect, { facts }: LoadedRun): boolean =>
  effect.kind === 'watch' && effect.lookMs <= facts.nowMs

const report = ({ run, effect }: Move, logger: Logger): void => {
  const fields = {
    organization_id: run.organizationId,
    run_id: run.runId,
    step: run.state.step,
    effect: effect.kind,
    ...(effect.kind === 'fail' && { failure_code: effect.code }),
  }
  if (effect.kind === 'complete' || effect.kind === 'fail' || effect.kind === 'cancel')
    logger.info(fields, 'an Automation run ended')
  else logger.debug(fields, 'an Automation run moved on')
}

const noteFault = async (
  { database, endCall, logger, now }: StepOptions,
  claimed: ClaimedRun,
  error: unknown,
): Promise<void> => {
  const fields = { organization_id: claimed.organizationId, run_id: claimed.runId }
  logger.error({ err: error, ...fields }, 'an Automation run could not be stepped')
  const faults = await storeFault(database, claimed, (made) => backoffMs(made, faultDelay), now?.())
  if (faults === undefined || faults < maxFaults) return
  await endFaultyRun(database, claimed, endCall)
  logger.error({ ...fields, faults }, 'an Automation run was given up')
}
