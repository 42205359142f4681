/**
 * The dashboard in Chromium: what the first visit loads, how soon the first rows of 100,000 calls and 100,000 contacts
 * are there, a call of half an hour, and what 50 open dashboards cost the service. Paints, long tasks and layout shifts
 * are what Chromium reports itself, accessibility is axe's. Usage: `npm run bench dashboard -- [calls]`.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../src/database/embedded-postgres.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import { launchChromium } from '../tests/support/chromium.ts'
import { createInstallation, startOutdial } from '../tests/support/outdial-process.ts'
import { until } from '../tests/support/until.ts'
import { fillDashboard } from './dashboard/fill.ts'
import { shareOfOpenPages, signIn, visit, type PageFigures } from './dashboard/visits.ts'
import { row } from './queue/figures.ts'

const goals = { firstLoadKb: 250, rowsMs: 300, callMs: 500, openShare: 0.05 } as const
const openPages = 50
const account = { email: 'bench@example.com', password: 'benchmark password' } as const
const statementTimeoutMs = 600_000
const startTimeoutMs = 120_000

const main = async (): Promise<void> => {
  const calls = Number(process.argv[2] ?? 100_000)
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const server = await startEmbedded(folder)
  const { connection } = server
  const db = openDatabase({ connection, logger: silentLogger, statementTimeoutMs })
  const browser = await launchChromium()
  try {
    const migrations = join(import.meta.dirname, '../migrations')
    await migrate({ connection, folder: migrations, logger: silentLogger })
    const longCall = await fillDashboard(db, calls)
    const host = encodeURIComponent(connection.host)
    const installation = await createInstallation({
      DATABASE_URL: `postgres:///${connection.database}?host=${host}&user=${connection.user}`,
      OUTDIAL_ADMIN_EMAIL: account.email,
      OUTDIAL_ADMIN_PASSWORD: account.password,
    })
    const outdial = await startOutdial(installation.env, startTimeoutMs)
    try {
      const origin = `http://127.0.0.1:${installation.env['OUTDIAL_DASHBOARD_PORT']}`
      await until('the dashboard', async () => (await fetch(origin)).status === 200 || undefined, {
        timeoutMs: startTimeoutMs,
      })
      const { context, firstLoadKb } = await signIn(browser, origin, account)
      const pages = [
        await visit(context, 'calls', '/calls', (page) => page.locator('tbody tr')),
        await visit(context, 'contacts', '/contacts', (page) => page.locator('tbody tr')),
        await visit(context, 'call of 30 minutes', `/calls/${longCall}`, (page) =>
          page.locator('.transcript li'),
        ),
        await visit(context, 'agents', '/agents', (page) => page.locator('tbody tr')),
        await visit(context, 'overview', '/', (page) => page.getByRole('heading', { level: 1 })),
      ]
      const pid = outdial.child.pid
      const share = await shareOfOpenPages(context, openPages, () => cpuSeconds(pid))
      print(pages, { calls, firstLoadKb, share })
    } finally {
      await outdial.stop()
      installation.remove()
    }
  } finally {
    await browser.close()
    await db.stop()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const clockTicksPerSecond = 100

/** User and system time of a process (proc_pid_stat(5), fields 14 and 15). */
const cpuSeconds = (pid: number | undefined): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond
}

interface Whole {
  readonly calls: number
  readonly firstLoadKb: number
  readonly share: number
}

const widths = [20, 10, 14, 12, 8, 6]

const print = (pages: readonly PageFigures[], { calls, firstLoadKb, share }: Whole): void => {
  console.log(
    `${calls} calls and as many contacts of one organization; medians of 7 visits with a warm cache`,
  )
  console.log(row(['page', 'ready ms', 'first paint ms', 'blocked ms', 'shift', 'axe'], widths))
  for (const page of pages)
    console.log(
      row(
        [
          page.name,
          page.readyMs.toFixed(0),
          page.firstPaintMs.toFixed(0),
          page.blockedMs.toFixed(0),
          page.layoutShift.toFixed(3),
          String(page.accessibilityFaults),
        ],
        widths,
      ),
    )
  const readyMs = (name: string) => pages.find((page) => page.name === name)?.readyMs.toFixed(0)
  console.log(
    `dashboard: first load ${firstLoadKb.toFixed(0)} kB (goal ≤ ${goals.firstLoadKb}), first rows of calls ` +
      `${readyMs('calls')} and contacts ${readyMs('contacts')} ms (goal ≤ ${goals.rowsMs}), a call of 30 minutes ` +
      `${readyMs('call of 30 minutes')} ms (goal ≤ ${goals.callMs}), ${openPages} open dashboards ` +
      `${(share * 100).toFixed(1)} % of a core (goal ≤ ${goals.openShare * 100})`,
  )
}

await main()
