import { runCrowdedHistory, runHistory } from './run-history.ts'
import { createVirtualDatabase } from './virtual-clock.ts'

/** Databases at once: more would only wait for each other. */
const maxDatabases = 3
/** Failed histories reported; the rest is not run. */
const maxFailures = 5

export interface HistoryOptions {
  /** The first seed. */
  readonly from: number
  readonly seeds: number
  /** After each history. */
  readonly onDone?: (done: number) => void
}

export interface HistoryReport {
  readonly done: number
  /** The broken promise, with its seed and step. */
  readonly failures: readonly unknown[]
}

/** Plays a history for each seed, with four concurrent steps for even seeds, over several databases in parallel. */
export const runHistories = async ({
  from,
  seeds,
  onDone = () => {},
}: HistoryOptions): Promise<HistoryReport> => {
  const failures: unknown[] = []
  let next = from
  let done = 0
  const play = async (): Promise<void> => {
    const database = await createVirtualDatabase()
    while (next < from + seeds && failures.length < maxFailures) {
      const seed = next
      next += 1
      const run = seed % 2 === 0 ? runCrowdedHistory : runHistory
      await run(database.db, seed).catch((error: unknown) => failures.push(error))
      done += 1
      onDone(done)
    }
    await database.drop()
  }
  await Promise.all(Array.from({ length: maxDatabases }, play))
  return { done, failures }
}
