import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright-core'
import type { Database } from '../../src/database/database.ts'
import { startEmbedded } from '../../src/database/embedded-postgres.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { launchChromium } from '../../tests/support/chromium.ts'
import {
  createInstallation,
  startOutdial,
  type OutdialProcess,
} from '../../tests/support/outdial-process.ts'
import { until } from '../../tests/support/until.ts'
import { fillDashboard } from './fill.ts'
import { signIn } from './visits.ts'

const account = { email: 'bench@example.com', password: 'benchmark password' } as const
const statementTimeoutMs = 600_000
const startTimeoutMs = 120_000

/** A service over many calls and contacts of one organization, and a browser whose account administers it. */
export interface FilledService {
  readonly db: Database
  readonly outdial: OutdialProcess
  readonly browser: Browser
  readonly context: BrowserContext
  readonly origin: string
  /** A context of another browser, signed in to the same account. */
  readonly openContext: () => Promise<BrowserContext>
  readonly firstLoadKb: number
  /** A call of half an hour. */
  readonly longCall: string
}

/** Starts it, does the work, and stops it. */
export const withFilledService = async (
  calls: number,
  work: (service: FilledService) => Promise<void>,
): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const server = await startEmbedded(folder)
  const { connection } = server
  const db = openDatabase({ connection, logger: silentLogger, statementTimeoutMs })
  const browser = await launchChromium()
  try {
    const migrations = join(import.meta.dirname, '../../migrations')
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
      const openContext = async () => (await signIn(browser, origin, account)).context
      const { context, firstLoadKb } = await signIn(browser, origin, account)
      await work({ db, outdial, browser, context, origin, openContext, firstLoadKb, longCall })
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
