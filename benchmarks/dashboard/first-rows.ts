import type { BrowserContext } from 'playwright-core'
import { row } from '../queue/figures.ts'
import type { FilledService } from './filled-service.ts'
import { withProfile } from './profile.ts'
import { visit, type PageFigures } from './visits.ts'

const goals = { firstLoadKb: 250, rowsMs: 300, callMs: 500 } as const
const widths = [20, 10, 14, 12, 8, 6]

/** How soon pages show their first rows to a browser that was there before. */
export const measureFirstRows = (service: FilledService): Promise<void> =>
  withProfile(service, async (context) =>
    report(await visitPages(context, service.longCall), service.firstLoadKb),
  )

const visitPages = async (context: BrowserContext, longCall: string): Promise<PageFigures[]> => [
  await visit(context, 'calls', '/calls', (page) => page.locator('tbody tr')),
  await visit(context, 'contacts', '/contacts', (page) => page.locator('tbody tr')),
  await visit(context, 'call of 30 minutes', `/calls/${longCall}`, (page) =>
    page.locator('.transcript li'),
  ),
  await visit(context, 'agents', '/agents', (page) => page.locator('tbody tr')),
  await visit(context, 'overview', '/', (page) => page.getByRole('heading', { level: 1 })),
]

const report = (pages: readonly PageFigures[], firstLoadKb: number): void => {
  print(pages)
  const readyMs = (name: string) => pages.find((page) => page.name === name)?.readyMs.toFixed(0)
  console.log(
    `dashboard: first load ${firstLoadKb.toFixed(0)} kB (goal ≤ ${goals.firstLoadKb}), first rows of calls ` +
      `${readyMs('calls')} and contacts ${readyMs('contacts')} ms (goal ≤ ${goals.rowsMs}), a call of 30 minutes ` +
      `${readyMs('call of 30 minutes')} ms (goal ≤ ${goals.callMs})`,
  )
}

const print = (pages: readonly PageFigures[]): void => {
  console.log('medians of 7 visits with a warm cache')
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
}
