/**
 * Every list with every combination of its filters, over millions of rows of one organization: the first request of
 * a connection, the hundredth, and all of them, first with never analyzed tables and then with analyzed ones.
 * PostgreSQL is the embedded one. Usage: `npm run bench lists -- [calls]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database, Queryable } from '../src/database/database.ts'
import { sql } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded-postgres.ts'
import { migrate } from '../src/database/migrate.ts'
import type { ListRequest, Page, PagePosition } from '../src/database/newest-first.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { listApiCalls } from '../src/domains/calls/call-store.ts'
import { listContactRows } from '../src/domains/contacts/contact-store.ts'
import { listRunRows } from '../src/domains/automations/run-store.ts'
import { listRecordingRows } from '../src/domains/recordings/recording-store.ts'
import type { OrganizationId } from '../src/contract/organization-id.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import { busyContact, fill, type Filled } from './lists/fill.ts'
import { percentile, row, timed } from './queue/figures.ts'

const goalMs = 5
const requestsPerConnection = Number(process.argv[3] ?? 100)
const pageSize = 50
const fillTimeoutMs = 1_800_000

interface Trial {
  readonly name: string
  readonly read: (
    db: Queryable,
    request: ListRequest<never>,
  ) => Promise<Page<{ readonly id: string }>>
  /** The values tried for each filter: a common one, one that never occurs with a common other, an unknown one. */
  readonly filters: Readonly<Record<string, readonly unknown[]>>
}

const nowhere = 'ffffffff-ffff-7fff-8fff-ffffffffffff'

const trialsOf = ({ idOf }: Filled): readonly Trial[] => {
  const times = {
    created_after: [new Date(Date.now() - 30 * 86_400_000).toISOString()],
    created_before: [new Date(Date.now() - 86_400_000).toISOString()],
  }
  return [
    {
      name: 'calls',
      read: listApiCalls as Trial['read'],
      filters: {
        status: ['completed', 'failed', 'in_progress'],
        contact_id: [idOf('contact', busyContact), idOf('contact', 77), nowhere],
        agent_id: [idOf('agent', 0), idOf('agent', 5), nowhere],
        batch_id: [idOf('batch', 7), idOf('batch', 8), nowhere],
        automation_run_id: [idOf('run', 1_500), idOf('run', 4_600), nowhere],
        ...times,
      },
    },
    {
      name: 'automation runs',
      read: listRunRows as Trial['read'],
      filters: {
        status: ['completed', 'failed', 'waiting'],
        automation_id: [idOf('automation', 0), idOf('automation', 5), nowhere],
        contact_id: [idOf('contact', busyContact), idOf('contact', 77), nowhere],
        ...times,
      },
    },
    {
      name: 'contacts',
      read: listContactRows as Trial['read'],
      filters: {
        external_id: ['c1000', 'c1001', 'nowhere'],
        source: ['crm', 'rare', 'nowhere'],
        ...times,
      },
    },
    {
      name: 'recordings',
      read: listRecordingRows as Trial['read'],
      filters: { contact_id: [idOf('contact', busyContact), nowhere], ...times },
    },
  ]
}

type Filters = Readonly<Record<string, unknown>>

/**
 * Every combination of filters, each with values that are common together, rare ones, unknown ones, and with one
 * rare or unknown value among common ones.
 */
const combinationsOf = (filters: Trial['filters']): Filters[] => {
  const subsets = Object.keys(filters).reduce<string[][]>(
    (made, filter) => [...made, ...made.map((each) => [...each, filter])],
    [[]],
  )
  return subsets.flatMap((used) => {
    const choices: readonly (readonly [number, number])[] = [
      [0, 0],
      [1, 1],
      [2, 2],
      [0, 1],
      [1, 0],
      [0, 2],
    ]
    const made = choices.map(([ofFirst, ofOthers]) =>
      Object.fromEntries(
        used.map((filter, at) => {
          const values = filters[filter] ?? []
          return [filter, values[at === 0 ? ofFirst : ofOthers] ?? values[0]]
        }),
      ),
    )
    return [...new Map(made.map((each) => [JSON.stringify(each), each])).values()]
  })
}

interface Figures {
  readonly first: number[]
  readonly all: number[]
  readonly hundredth: number[]
  slowest: { ms: number; filters: Filters }
}

const measure = async (
  trial: Trial,
  organizationId: OrganizationId,
  open: () => Database,
): Promise<Figures> => {
  const figures: Figures = { first: [], all: [], hundredth: [], slowest: { ms: 0, filters: {} } }
  for (const filters of combinationsOf(trial.filters)) {
    const db = open()
    const request = { organizationId, limit: pageSize, filters }
    await db.row(connectStatement, [organizationId])
    const tookMs: number[] = []
    let cursor: PagePosition | null = null
    for (let asked = 0; asked < requestsPerConnection; asked += 1) {
      // Every other request continues after a page.
      const asks = {
        ...request,
        ...(cursor && asked % 2 === 1 ? { cursor } : {}),
      } as ListRequest<never>
      tookMs.push(
        await timed(async () => {
          const page = await trial.read(db, asks)
          cursor = page.next
        }),
      )
    }
    await db.stop()
    figures.first.push(tookMs[0] ?? 0)
    figures.hundredth.push(tookMs.at(-1) ?? 0)
    figures.all.push(...tookMs.slice(1))
    const ms = percentile(tookMs.slice(1), 0.95)
    if (ms > figures.slowest.ms) figures.slowest = { ms, filters }
  }
  return figures
}

// An empty page, so that connecting is not part of the first request.
const connectStatement = { ...sql('bench.connect', 'select $1::uuid as id'), isList: true } as const

const widths = [28, 13, 10, 10, 10, 10, 10]

const report = async (
  state: string,
  filled: Filled,
  open: () => Database,
): Promise<{ p95: number; slowest: number }> => {
  console.log(`\n${state}, ms`)
  console.log(
    row(['', 'combinations', 'first p50', 'first p95', '100th p95', 'all p95', 'slowest'], widths),
  )
  const worst = { p95: 0, slowest: 0 }
  for (const trial of trialsOf(filled)) {
    const { first, hundredth, all, slowest } = await measure(trial, filled.organizationId, open)
    const [p95, firstP95] = [percentile(all, 0.95), percentile(first, 0.95)]
    worst.p95 = Math.max(worst.p95, p95)
    worst.slowest = Math.max(worst.slowest, slowest.ms)
    const cells = [percentile(first, 0.5), firstP95, percentile(hundredth, 0.95), p95, slowest.ms]
    console.log(row([trial.name, String(first.length), ...cells], widths))
    console.log(`  slowest: ${Object.keys(slowest.filters).join(', ') || 'no filter'}`)
  }
  return worst
}

const main = async (): Promise<void> => {
  const calls = Number(process.argv[2] ?? 4_000_000)
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const server = await startEmbedded(folder)
  try {
    const { connection } = server
    const migrations = join(import.meta.dirname, '../migrations')
    await migrate({ connection, folder: migrations, logger: silentLogger })
    const db = openDatabase({
      connection,
      logger: silentLogger,
      statementTimeoutMs: fillTimeoutMs,
    })
    const filledMs = performance.now()
    const filled = await fill(db, calls)
    console.log(`${calls} calls in ${((performance.now() - filledMs) / 1000).toFixed(0)} s`)
    const open = () => openDatabase({ connection, logger: silentLogger, maxConnections: 1 })
    const never = await report('never analyzed', filled, open)
    for (const table of ['calls', 'automation_runs', 'contacts', 'recordings'])
      await db.run(sql(`bench.analyze.${table}`, `vacuum analyze ${table}`), [])
    const analyzed = await report('analyzed', filled, open)
    await db.stop()
    const p95 = Math.max(never.p95, analyzed.p95)
    const slowest = Math.max(never.slowest, analyzed.slowest)
    console.log(
      `\nlists: ${calls} calls, every combination of filters: p95 ${p95.toFixed(1)} ms (goal <= ${goalMs}), ` +
        `of the slowest combination ${slowest.toFixed(1)} ms`,
    )
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

await main()
