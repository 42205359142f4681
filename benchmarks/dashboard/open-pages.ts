import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { sql, type Database } from '../../src/database/database.ts'
import type { FilledService } from './filled-service.ts'

const goal = 0.05
const openPages = 50
/** Each a browser of its own, with its own stream. */
const browsers = 5
const watchedMs = 20_000
const clockTicksPerSecond = 100

/** What open dashboards cost the service: while nothing changes, and while a call changes each second. */
export const measureOpenPages = async (service: FilledService): Promise<void> => {
  const { db, outdial } = service
  const share = () => cpuShare(outdial.child.pid)
  const contexts = [service.context]
  while (contexts.length < browsers) contexts.push(await service.openContext())
  const changing = () => whileCallsChange(db, share)
  const idle = await share()
  const idleChanging = await changing()
  const pages = await openAll(contexts)
  const quiet = (await share()) - idle
  const busy = (await changing()) - idleChanging
  for (const page of pages) await page.close()
  const percent = (part: number) => `${(part * 100).toFixed(1)} %`
  console.log(
    `dashboard open: ${openPages} dashboards of ${browsers} browsers cost the service ${percent(quiet)} of a core while ` +
      `nothing changes, ${percent(busy)} while a call changes each second (goal ≤ ${percent(goal)})`,
  )
}

const openAll = async (contexts: readonly BrowserContext[]): Promise<readonly Page[]> => {
  const pages: Page[] = []
  for (let index = 0; index < openPages; index += 1) {
    const page = await contexts[index % contexts.length]?.newPage()
    if (!page) continue
    await page.goto(index % 2 === 0 ? '/' : '/calls')
    await page.getByRole('heading', { level: 1 }).waitFor()
    pages.push(page)
  }
  return pages
}

const touchStatement = sql(
  'bench.dashboard.touchNewest',
  `update calls
      set updated_at = now()
    where id = (select id from calls where status = 'completed' order by created_at desc, id desc limit 1)`,
)

const whileCallsChange = async (db: Database, share: () => Promise<number>): Promise<number> => {
  const timer = setInterval(() => {
    db.run(touchStatement, []).catch((error: unknown) => console.error(error))
  }, 1_000)
  try {
    return await share()
  } finally {
    clearInterval(timer)
  }
}

const cpuShare = async (pid: number | undefined): Promise<number> => {
  const before = cpuSeconds(pid)
  await delay(watchedMs)
  return (cpuSeconds(pid) - before) / (watchedMs / 1000)
}

/** User and system time of a process (proc_pid_stat(5), fields 14 and 15). */
const cpuSeconds = (pid: number | undefined): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond
}
