import pg from 'pg'
import type { Fleet } from './fleet.ts'
import { judgeJournal, type CallRow, type JournalVerdict } from './judge-journal.ts'
import { runProblems, type MoveRow, type RunHistory } from './judge-runs.ts'
import type { Load } from './load.ts'
import { batchProblems } from './observe.ts'
import type { BatchAnswer, Requests, Settled } from './requests.ts'
import type { Tenant } from './stage.ts'

export interface Verdict {
  readonly calls: ReadonlyMap<string, CallRow>
  readonly batches: number
  readonly runs: number
  readonly moves: number
  readonly replays: number
  readonly journal: JournalVerdict
  readonly problems: readonly string[]
}

interface Trial {
  readonly fleet: Fleet
  readonly tenants: readonly Tenant[]
  readonly load: Load
  readonly requests: Requests
}

/** Checks every promise after the trial. */
export const reachVerdict = async (trial: Trial): Promise<Verdict> => {
  const { fleet, tenants, load } = trial
  const client = new pg.Client(fleet.connection)
  await client.connect()
  try {
    const calls = await readCalls(client)
    const runs = await readRuns(client, calls, tenants)
    const batchIds = await idsOf(client, 'batches')
    const journal = judgeJournal(fleet.carrier.journal(), calls, tenants)
    const replays = await replayAll(trial)
    const afterReplays = await readCalls(client)
    return {
      calls,
      batches: batchIds.length,
      runs: runs.length,
      moves: runs.reduce((sum, run) => sum + run.moves.length, 0),
      replays: replays.count,
      journal,
      problems: [
        ...fleet.services.flatMap(({ surprises }, index) =>
          surprises.map((text) => `service ${index + 1}: ${text}`),
        ),
        ...load.faults,
        ...callProblems(calls),
        ...sameIds('call', immediateIds(calls), load.calls),
        ...sameIds('batch', batchIds, load.batches),
        ...sameIds(
          'run',
          runs.map(({ id }) => id),
          load.runs,
        ),
        ...(await settlementProblems(trial, calls)),
        ...runs.flatMap(runProblems),
        ...journal.problems,
        ...replays.problems,
        ...(afterReplays.size === calls.size ? [] : ['a replayed request placed calls']),
      ],
    }
  } finally {
    await client.end()
  }
}

const readCalls = async (client: pg.Client): Promise<Map<string, CallRow>> => {
  const { rows } = await client.query<CallRow>(
    `select id, organization_id, status, batch_id, automation_run_id, answer_status, ended_at from calls`,
  )
  return new Map(rows.map((row) => [row.id, row]))
}

const idsOf = async (client: pg.Client, table: 'batches'): Promise<string[]> =>
  (await client.query<{ id: string }>(`select id from ${table}`)).rows.map(({ id }) => id)

const immediateIds = (calls: ReadonlyMap<string, CallRow>): string[] =>
  [...calls.values()]
    .filter((call) => call.batch_id === null && call.automation_run_id === null)
    .map(({ id }) => id)

interface RunRow extends MoveRow {
  readonly run_id: string
  readonly automation_id: string
  readonly status: string
  readonly run_sequence: number
  readonly is_due: boolean
}

const readRuns = async (
  client: pg.Client,
  calls: ReadonlyMap<string, CallRow>,
  tenants: readonly Tenant[],
): Promise<RunHistory[]> => {
  const { rows } = await client.query<RunRow>(
    `select r.id as run_id, r.automation_id, r.status, r.sequence as run_sequence, r.wake_at is not null as is_due,
            m.sequence, m.step, m.move, m.attempt, m.call_id, m.until, m.at
       from automation_runs r
       left join automation_run_moves m on m.organization_id = r.organization_id and m.run_id = r.id
      order by r.id, m.sequence`,
  )
  const automations = new Map(
    tenants.flatMap((tenant) => tenant.automations.map((each) => [each.id, each.definition])),
  )
  return Object.values(Object.groupBy(rows, (row) => row.run_id)).flatMap((moves = []) => {
    const [run] = moves
    const definition = run && automations.get(run.automation_id)
    if (!run || !definition) return []
    const own = [...calls.values()].filter((call) => call.automation_run_id === run.run_id)
    return {
      id: run.run_id,
      status: run.status,
      sequence: run.run_sequence,
      isDue: run.is_due,
      definition,
      // A run that never moved has one row without a move.
      moves: moves.filter((move) => move.sequence !== null),
      calls: new Map(own.map((call) => [call.id, call])),
    }
  })
}

const terminal = new Set(['completed', 'failed', 'cancelled'])

const callProblems = (calls: ReadonlyMap<string, CallRow>): string[] =>
  [...calls.values()]
    .filter(({ status }) => !terminal.has(status))
    .map(({ id, status }) => `call ${id} is still ${status}`)

/** Exactly the accepted work exists: each request had its effect once. */
const sameIds = (
  what: string,
  found: readonly string[],
  promised: ReadonlyMap<string, Tenant>,
): string[] => {
  const known = new Set(found)
  return [
    ...[...promised.keys()].filter((id) => !known.has(id)).map((id) => `${what} ${id} was lost`),
    ...found.filter((id) => !promised.has(id)).map((id) => `nobody was told of ${what} ${id}`),
  ]
}

/** The final counters of a batch match its calls. */
const settlementProblems = async (
  { load, requests }: Trial,
  calls: ReadonlyMap<string, CallRow>,
): Promise<string[]> => {
  const byBatch = Object.groupBy(calls.values(), (call) => call.batch_id ?? '')
  const problems: string[] = []
  for (const [id, tenant] of load.batches) {
    const batch = (await requests.get(tenant, `/batches/${id}`)) as BatchAnswer | undefined
    if (!batch) {
      problems.push(`batch ${id} cannot be read`)
      continue
    }
    problems.push(...batchProblems(batch, undefined))
    const own = byBatch[id] ?? []
    const count = (status: string) => own.filter((call) => call.status === status).length
    const answers = (answer: string) =>
      own.filter((call) => call.status === 'completed' && call.answer_status === answer).length
    const pairs: [string, number, number][] = [
      ['completed', batch.completed_recipients, count('completed')],
      ['failed', batch.failed_recipients, count('failed')],
      ['cancelled', batch.cancelled_recipients, count('cancelled')],
      ['answered', batch.answered_recipients, answers('answered')],
      ['busy', batch.busy_recipients, answers('busy')],
      ['not answered', batch.no_answer_recipients, answers('no_answer')],
    ]
    for (const [what, told, counted] of pairs)
      if (told !== counted) problems.push(`batch ${id} tells ${told} ${what}, and has ${counted}`)
    if (!terminal.has(batch.status)) problems.push(`batch ${id} is still ${batch.status}`)
  }
  return problems
}

const replaysAtOnce = 6

/** Every accepted request again, with its key: the same response, marked as a replay, and no effect. */
const replayAll = async ({
  load,
  requests,
}: Trial): Promise<{ count: number; problems: string[] }> => {
  const accepted = load.settled.filter(({ status }) => status < 300)
  const problems: string[] = []
  const queue = accepted.values()
  const replay = async ({ tenant, path, body, key, status, answer }: Settled): Promise<void> => {
    const again = await requests.post(tenant, path, body, key)
    if (!again.isReplay || again.status !== status || again.answer.id !== answer.id)
      problems.push(`POST ${path} with its old key: ${again.status} ${again.answer.id}`)
  }
  const work = async (): Promise<void> => {
    for (const request of queue) await replay(request)
  }
  await Promise.all(Array.from({ length: replaysAtOnce }, work))
  return { count: accepted.length, problems }
}
