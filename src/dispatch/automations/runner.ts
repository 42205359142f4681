import type { Database } from '../../database/database.ts'
import { runsChannel } from '../../domains/automations/queue-run.ts'
import type { EndCall } from '../../domains/calls/lifecycle/end-call.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import { systemTime, type Time } from '../../runtime/time.ts'
import { claimDueRuns } from './claim-runs.ts'
import { createDefinitionCache } from './definition-cache.ts'
import { stepRun, type StepOptions } from './step-run.ts'

/** Polling finds runs whose hints were lost; it costs one probe of an index. */
const pollIntervalMs = 250
/** Runs claimed at once; a full claim is followed by another at once. */
const runsPerTurn = 100
/** Runs stepped in parallel: each has a connection only during its statements. */
const defaultConcurrency = 4
/** Far longer than a turn takes. Runs of a dead runner are due again after it. */
const leaseMs = 10_000

interface AutomationRunnerOptions {
  readonly database: Database
  /** What commits with the end of a call that a run cancels. */
  readonly endCall: EndCall
  readonly logger: Logger
  readonly concurrency?: number
  /** For tests with a manual clock. */
  readonly time?: Time
}

/** Steps Automation runs when their time has come. Any number of runners share one database. */
export const createAutomationRunner = (options: AutomationRunnerOptions): Service => {
  const { database, logger, time = systemTime } = options
  const turn = createRunnerTurn(options)
  let stepping: Repeating | undefined
  let listener: { stop(): Promise<void> } | undefined
  let starting: Promise<void> | undefined
  let stopping: Promise<void> | undefined

  const start = async (): Promise<void> => {
    stepping = repeat({
      name: 'automations',
      intervalMs: pollIntervalMs,
      work: async () => ((await turn()) >= runsPerTurn ? 0 : undefined),
      time,
      logger,
    })
    listener = await database.listen(runsChannel, () => stepping?.wake())
  }

  const stop = async (): Promise<void> => {
    await starting
    await Promise.all([stepping?.stop(), listener?.stop()])
  }

  return { start: () => (starting ??= start()), stop: () => (stopping ??= stop()) }
}

/** One turn: claims due runs and steps each as far as possible. Returns how many were claimed. */
export const createRunnerTurn = (
  options: Omit<AutomationRunnerOptions, 'time'> & Pick<StepOptions, 'now'>,
): (() => Promise<number>) => {
  const { database, concurrency = defaultConcurrency } = options
  const stepOptions: StepOptions = { ...options, leaseMs, definitions: createDefinitionCache() }
  return async () => {
    const due = await claimDueRuns(database, { limit: runsPerTurn, leaseMs, now: options.now?.() })
    const waiting = [...due]
    const stepMany = async (): Promise<void> => {
      for (let run = waiting.shift(); run !== undefined; run = waiting.shift())
        await stepRun(stepOptions, run)
    }
    await Promise.all(Array.from({ length: Math.min(concurrency, due.length) }, stepMany))
    return due.length
  }
}
