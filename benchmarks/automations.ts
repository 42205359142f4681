/**
 * Wakes 1,000 due Automation runs while 10 thousand or 1 million others sleep, and measures how many runs a second
 * are stepped. PostgreSQL is the embedded one with fsync on; tables are analyzed; rounds of both sizes alternate.
 * Usage: `npm run bench automations -- [sleeping runs]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { sql, type Database } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded-postgres.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { createRunnerTurn } from '../src/dispatch/automations/runner.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import { endCallAlone } from '../tests/support/call-ends.ts'

const smallCount = 10_000
const largeCount = Number(process.argv[2] ?? 1_000_000)
const dueRuns = 1_000
const rounds = 7
const goalRatio = 1.5

interface Round {
  readonly ms: number
  readonly rssMiB: number
}

const main = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const server = await startEmbedded(folder)
  try {
    const small = await createSite(server.connection, 'small', smallCount)
    const large = await createSite(server.connection, 'large', largeCount)
    const [few, many]: [Round[], Round[]] = [[], []]
    await small.wake()
    await large.wake()
    for (let round = 0; round < rounds; round += 1) {
      few.push(await small.wake())
      many.push(await large.wake())
    }
    await small.db.stop()
    await large.db.stop()
    report(few, many)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** A database of one server, with an organization and its sleeping runs. */
const createSite = async (server: pg.ClientConfig, name: string, sleeping: number) => {
  const administrator = new pg.Client(server)
  await administrator.connect()
  await administrator.query(`create database ${name}`)
  await administrator.end()
  const connection = { ...server, database: name }
  const folder = join(import.meta.dirname, '../migrations')
  await migrate({ connection, folder, logger: silentLogger })
  const db = openDatabase({ connection, logger: silentLogger, statementTimeoutMs: 600_000 })
  await fill(db)
  await sleepers(db, sleeping)
  return { db, wake: createWake(db) }
}

const run = (db: Database, name: string, text: string, values: readonly unknown[] = []) =>
  db.run(sql(`bench.${name}`, text), values)

const organization = '00000000-0000-7000-8000-000000000001'

/** A wait, a branch and an end, to measure the runner without telephony. */
const definition = {
  entry: 'rest',
  steps: {
    rest: { type: 'wait', for: 'P30D', next: 'route' },
    route: {
      type: 'branch',
      cases: [{ when: { outcome: ['achieved'] }, next: 'done' }],
      otherwise: 'done',
    },
    done: { type: 'end', result: 'completed' },
  },
}

const fill = async (db: Database): Promise<void> => {
  const policy = {
    time_zone: 'UTC',
    windows: [{ weekdays: ['monday'], start_time: '00:00', end_time: '24:00' }],
    allowed_countries: 'all',
  }
  await run(
    db,
    'organization',
    `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy)
     values ($1, 'bench', '2026-07-16', true, 1000, $2)`,
    [organization, JSON.stringify(policy)],
  )
  await run(
    db,
    'automation',
    `with automation as (
       insert into automations (organization_id, id, name, status, published_version)
       values ($1, $1, 'bench', 'active', 1)
       returning id
     )
     insert into automation_versions (organization_id, automation_id, version, definition)
     select $1, id, 1, $2 from automation`,
    [organization, JSON.stringify(definition)],
  )
}

/** Runs at their wait, due in a month, each with its own contact. */
const sleepers = async (db: Database, count: number): Promise<void> => {
  await run(
    db,
    'contacts',
    `insert into contacts (organization_id, id, source, name, phone_number)
     select $1, gen_random_uuid(), 'bench', 'bench', '+1' || (2000000000 + n + (select count(*) from contacts))
       from generate_series(1, $2::integer) as n`,
    [organization, count],
  )
  await run(
    db,
    'runs',
    `insert into automation_runs (organization_id, id, origin, automation_id, automation_version, contact_id, status,
                                  step, phase, steps_executed, sequence, started_at, due_at, wake_at, wait_reason)
     select $1, gen_random_uuid(), 'api', $1, 1, k.id, 'waiting', 'rest', 'wait', 1, 2, now(),
            now() + interval '30 days' + random() * interval '1 day',
            now() + interval '30 days' + random() * interval '1 day', 'wait_step'
       from contacts k
      where k.organization_id = $1
        and not exists (select from automation_runs r where r.organization_id = $1 and r.contact_id = k.id)`,
    [organization],
  )
  for (const table of ['automation_runs', 'contacts', 'automation_run_moves'])
    await run(db, `analyze.${table}`, `vacuum analyze ${table}`)
}

/** Makes 1,000 sleeping runs due, then steps them to their end: three moves each, one transaction for each. */
const createWake = (db: Database): (() => Promise<Round>) => {
  const turn = createRunnerTurn({ database: db, endCall: endCallAlone, logger: silentLogger })
  return async () => {
    await run(
      db,
      'due',
      `update automation_runs set wake_at = now(), due_at = now()
        where organization_id = $2
          and id in (select id from automation_runs where organization_id = $2 and status = 'waiting' limit $1)`,
      [dueRuns, organization],
    )
    const startedMs = performance.now()
    let stepped = 0
    while (stepped < dueRuns) stepped += await turn()
    const ms = performance.now() - startedMs
    return { ms, rssMiB: process.memoryUsage().rss / 1024 / 1024 }
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const report = (few: readonly Round[], many: readonly Round[]): void => {
  console.log(' sleeping   1,000 due ms   runs/s   RSS MiB')
  const line = (sleeping: number, all: readonly Round[]) => {
    const ms = median(all.map((round) => round.ms))
    const rss = median(all.map((round) => round.rssMiB))
    const cells = [String(sleeping).padStart(9), ms.toFixed(0).padStart(14)]
    console.log([...cells, perSecond(ms).padStart(8), rss.toFixed(0).padStart(9)].join(' '))
    return { ms, rss }
  }
  const [small, large] = [line(smallCount, few), line(largeCount, many)]
  console.log(
    `automations: waking ${dueRuns} runs among ${largeCount} sleeping takes ${(large.ms / small.ms).toFixed(2)} times ` +
      `that among ${smallCount}, ${perSecond(large.ms)} runs/s of three moves, ` +
      `RSS ${(large.rss - small.rss).toFixed(0)} MiB more (goal ${goalRatio} times)`,
  )
}

const perSecond = (ms: number): string => ((dueRuns / ms) * 1000).toFixed(0)

await main()
