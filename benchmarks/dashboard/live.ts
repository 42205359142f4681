import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { sql, type Database } from '../../src/database/database.ts'
import type { FilledService } from './filled-service.ts'
import { warmUps, withProfile } from './profile.ts'

/** Calls that go on at one time. */
const liveCalls = 300
/** Turns that are spoken in a second: each call has one every five seconds. */
const turnsPerSecond = liveCalls / 5
const spokenSeconds = 15

const goalMs = 50

/** Opens the list of live calls of another node, and has them speak; the longest task of each. */
export const measureLive = async (service: FilledService): Promise<void> => {
  await hold(service.db)
  await withProfile(service, async (context) => {
    for (let turn = 0; turn < warmUps; turn += 1) await (await openList(context)).close()
    await watch(context, service.db)
  })
}

const openList = async (context: BrowserContext): Promise<Page> => {
  const page = await context.newPage()
  await page.addInitScript(longestTask)
  await page.goto('/live', { waitUntil: 'commit' })
  await page.locator('.windowed tbody tr[aria-rowindex]').first().waitFor()
  return page
}

const watch = async (context: BrowserContext, db: Database): Promise<void> => {
  const startedMs = performance.now()
  const page = await openList(context)
  const readyMs = performance.now() - startedMs
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined)
  const longestOpeningMs = await takeLongest(page)
  for (let second = 1; second <= spokenSeconds; second += 1) {
    await speak(db, second)
    await delay(1_000)
  }
  const longestSpeakingMs = await takeLongest(page)
  const drawn = await page.getByText('words of second').count()
  await page.close()
  console.log(
    `dashboard: ${liveCalls} live calls, first row after ${readyMs.toFixed(0)} ms, longest task ` +
      `${longestOpeningMs.toFixed(0)} ms as the list opens and ${longestSpeakingMs.toFixed(0)} ms while words come ` +
      `(goal ≤ ${goalMs}; 0: none over 50), ${drawn} rows with new words`,
  )
}

const takeLongest = (page: Page): Promise<number> =>
  page.evaluate<number>('globalThis.benchLongest()')

/** Runs in the page, before its own scripts. */
const longestTask = `{
  let longest = 0
  new PerformanceObserver((list) => { for (const task of list.getEntries()) longest = Math.max(longest, task.duration) })
    .observe({ type: 'longtask', buffered: true })
  globalThis.benchLongest = () => { const found = longest; longest = 0; return found }
}`

/** The node lives as long as the benchmark, so that no other ends its calls. */
const hold = async (db: Database): Promise<void> => {
  await db.run(
    sql(
      'bench.live.node',
      `insert into nodes (id, name, lease_until)
       values ('00000000-0000-7000-8000-00000000a0de', 'elsewhere', now() + interval '1 hour')`,
    ),
    [],
  )
  await db.run(
    sql(
      'bench.live.versions',
      `insert into agent_versions (organization_id, agent_id, version, definition)
       select organization_id, id, 1, '{}' from agents
       on conflict do nothing`,
    ),
    [],
  )
  await db.run(
    sql(
      'bench.live.calls',
      `insert into calls (organization_id, id, origin, status, contact_id, agent_id, agent_version, phone_number, lane_id,
                          lease_token, node_id, claimed_at, dialing_at, connected_at)
       select c.organization_id, uuidv7(), 'dashboard', 'in_progress', c.id, a.id, 1,
              '+1404555' || lpad(row_number() over ()::text, 4, '0'), c.organization_id, gen_random_uuid(),
              '00000000-0000-7000-8000-00000000a0de', now(), now(), now() - interval '1 minute'
         from (select * from contacts limit $1) as c
        cross join lateral (select id from agents where organization_id = c.organization_id limit 1) as a`,
    ),
    [liveCalls],
  )
}

const speak = async (db: Database, second: number): Promise<void> => {
  await db.run(
    sql(
      'bench.live.speak',
      `insert into transcript_turns (organization_id, call_id, sequence, id, speaker, text, audio_offset_ms)
       select organization_id, id, $1::integer, uuidv7(), 'agent', 'These are the words of second ' || $1, $1 * 1000
         from calls
        where lease_token is not null
          and status = 'in_progress'
        order by (hashtext(id::text || $1) & 1023)
        limit $2`,
    ),
    [second, turnsPerSecond],
  )
}
