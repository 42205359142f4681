import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { trunkChannels, type Fleet } from './fleet.ts'
import type { BatchAnswer, Requests } from './requests.ts'
import type { Tenant } from './stage.ts'

/** Observations during the trial. */
export interface Observations {
  readonly capacitySamples: number
  readonly mostLiveCalls: number
  readonly batchSightings: number
  readonly faults: readonly string[]
}

export interface Observer {
  /** Calls and runs that were unfinished at the last sample. */
  open(): number
  /** A new sample of the database; undefined while it is unavailable. */
  look(): Promise<Open | undefined>
  stop(): Promise<Observations>
}

export interface Open {
  readonly calls: number
  readonly runs: number
}

const capacityEveryMs = 60
const batchesEveryMs = 250
const maxFaults = 50

/** Samples repeatedly from outside: live calls in the database, batches through the API. */
export const startObserver = (
  { connection }: Fleet,
  tenants: readonly Tenant[],
  requests: Requests,
): Observer => {
  const stopped = new AbortController()
  const pool = new pg.Pool({ ...connection, max: 2, connectionTimeoutMillis: 2_000 })
  pool.on('error', () => undefined)
  const faults: string[] = []
  const fault = (text: string): void => {
    if (faults.length < maxFaults) faults.push(text)
  }
  const seen = new Map<string, BatchAnswer>()
  let capacitySamples = 0
  let mostLiveCalls = 0
  let batchSightings = 0
  let open: Open = { calls: 0, runs: 0 }

  const sampleCapacity = async (): Promise<void> => {
    const { rows } = await pool.query<LiveRow>(liveQuery)
    capacitySamples += 1
    const all = rows.reduce((sum, row) => sum + row.live, 0)
    mostLiveCalls = Math.max(mostLiveCalls, all)
    if (all > trunkChannels) fault(`${all} calls were live on ${trunkChannels} channels`)
    for (const row of rows) {
      const concurrency = tenants.find(({ id }) => id === row.organization_id)?.concurrency ?? 0
      if (row.live > concurrency) fault(`${row.live} calls were live where ${concurrency} may be`)
    }
  }

  const look = async (): Promise<Open | undefined> => {
    try {
      const { rows } = await pool.query<Open>(openQuery)
      return rows[0]
    } catch {
      return undefined
    }
  }

  const watchBatches = async (): Promise<void> => {
    for (const tenant of tenants) {
      const page = await requests.get(tenant, '/batches?limit=100')
      for (const batch of page?.data ?? []) {
        batchSightings += 1
        for (const problem of batchProblems(batch, seen.get(batch.id))) fault(problem)
        seen.set(batch.id, batch)
      }
    }
  }

  const repeatedly = async (everyMs: number, work: () => Promise<void>): Promise<void> => {
    while (!stopped.signal.aborted) {
      // The database is killed sometimes, which costs a sample.
      await work().catch(() => undefined)
      await delay(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined)
    }
  }
  const watching = Promise.all([
    repeatedly(capacityEveryMs, sampleCapacity),
    repeatedly(capacityEveryMs, async () => {
      open = (await look()) ?? open
    }),
    repeatedly(batchesEveryMs, watchBatches),
  ])

  return {
    open: () => open.calls + open.runs,
    look,
    async stop() {
      stopped.abort()
      await watching
      await pool.end()
      return { capacitySamples, mostLiveCalls, batchSightings, faults }
    },
  }
}

interface LiveRow {
  readonly organization_id: string
  readonly live: number
}

const liveQuery = `select organization_id, count(*)::int as live
  from calls
 where lease_token is not null
 group by organization_id`

const openQuery = `select (select count(*)::int from calls where ended_at is null) as calls,
       (select count(*)::int from automation_runs where status in ('queued', 'running', 'waiting')) as runs`

const terminalBatches = new Set(['completed', 'failed', 'cancelled'])

/** Every sample of a batch must be consistent in itself, and follow from the previous one. */
export const batchProblems = (batch: BatchAnswer, before: BatchAnswer | undefined): string[] => {
  const problems: string[] = []
  const { id } = batch
  const sum =
    batch.pending_recipients +
    batch.queued_recipients +
    batch.in_progress_recipients +
    batch.completed_recipients +
    batch.failed_recipients +
    batch.cancelled_recipients
  if (sum !== batch.total_recipients)
    problems.push(`batch ${id} counts ${sum} of ${batch.total_recipients} recipients`)
  const told = batch.answered_recipients + batch.no_answer_recipients + batch.busy_recipients
  if (told > batch.completed_recipients)
    problems.push(`batch ${id} tells ${told} answers of ${batch.completed_recipients} calls`)
  if (before && terminalBatches.has(before.status) && before.status !== batch.status)
    problems.push(`batch ${id} was ${before.status} and became ${batch.status}`)
  if (before && endedOf(batch) < endedOf(before))
    problems.push(
      `batch ${id} had ${endedOf(before)} recipients at their end, then ${endedOf(batch)}`,
    )
  return problems
}

const endedOf = (batch: BatchAnswer): number =>
  batch.completed_recipients + batch.failed_recipients + batch.cancelled_recipients
