import type { BrowserContext, Locator, Page } from 'playwright-core'
import { accessibilityFaults } from '../../tests/support/dashboard.ts'
import { median, row } from '../queue/figures.ts'
import type { FilledService } from './filled-service.ts'
import { performanceScore, type PaintTimings } from './lighthouse-scores.ts'

const goal = 95
const visits = 5
/** Lighthouse's desktop: 10 Mbit/s and 40 ms to a server, and a browser that knows nothing of it. */
const network = {
  offline: false,
  latency: 40,
  downloadThroughput: (10 * 1024 * 1024) / 8,
  uploadThroughput: (10 * 1024 * 1024) / 8,
} as const
const quietMs = 1_000
const widths = [20, 10, 14, 14, 12, 8, 12, 14]

/** Lighthouse's measures of the five main pages on a desktop, by its curves; accessibility is axe's. */
export const measurePages = async ({ context, longCall }: FilledService): Promise<void> => {
  const rows = (page: Page) => page.locator('tbody tr')
  const pages: readonly [string, string, (page: Page) => Locator][] = [
    ['overview', '/', (page) => page.getByRole('heading', { level: 1 })],
    ['calls', '/calls', rows],
    ['call of 30 minutes', `/calls/${longCall}`, (page) => page.locator('.transcript li')],
    ['agents', '/agents', rows],
    ['batches', '/batches', (page) => page.getByRole('heading', { level: 1 })],
  ]
  console.log(`medians of ${visits} first visits at 10 Mbit/s and 40 ms`)
  console.log(
    row(['page', 'ready', 'first paint', 'largest', 'blocked', 'shift', 'score', 'axe'], widths),
  )
  const scores: number[] = []
  for (const [name, path, ready] of pages) {
    const figures = await visitAnew(context, path, ready)
    scores.push(figures.score)
    const times = [figures.readyMs, figures.firstPaintMs, figures.largestPaintMs, figures.blockedMs]
    console.log(
      row(
        [
          name,
          ...times.map((ms) => `${ms.toFixed(0)} ms`),
          figures.layoutShift.toFixed(3),
          figures.score.toFixed(0),
          `${figures.faults} faults`,
        ],
        widths,
      ),
    )
  }
  console.log(`dashboard pages: lowest score ${Math.min(...scores).toFixed(0)} (goal ≥ ${goal})`)
}

const visitAnew = async (
  context: BrowserContext,
  path: string,
  ready: (page: Page) => Locator,
): Promise<PaintTimings & { readyMs: number; score: number; faults: number }> => {
  const seen: (PaintTimings & { readonly readyMs: number })[] = []
  let faults = 0
  for (let turn = 0; turn < visits; turn += 1) {
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
    await devtools.send('Network.emulateNetworkConditions', network)
    await page.addInitScript(observers)
    const startedMs = performance.now()
    await page.goto(path, { waitUntil: 'commit' })
    await ready(page).first().waitFor()
    const readyMs = performance.now() - startedMs
    await page.waitForTimeout(quietMs)
    seen.push({ ...(await page.evaluate<PaintTimings>('globalThis.benchTimings()')), readyMs })
    if (turn === 0) faults = (await accessibilityFaults(page)).length
    await page.close()
  }
  const of = (figure: (one: (typeof seen)[number]) => number) => median(seen.map(figure))
  return {
    readyMs: of((one) => one.readyMs),
    firstPaintMs: of((one) => one.firstPaintMs),
    largestPaintMs: of((one) => one.largestPaintMs),
    blockedMs: of((one) => one.blockedMs),
    layoutShift: of((one) => one.layoutShift),
    score: of(performanceScore),
    faults,
  }
}

/** Runs in the page, before its own scripts. Blocking time counts from the first paint on, as Lighthouse has it. */
const observers = `{
  const tasks = []
  let shift = 0, largest = NaN
  const watch = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true })
  watch('longtask', (task) => tasks.push(task))
  watch('layout-shift', (move) => { if (!move.hadRecentInput) shift += move.value })
  watch('largest-contentful-paint', (paint) => { largest = paint.startTime })
  globalThis.benchTimings = () => {
    const first = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN
    const blocked = tasks.reduce((sum, { startTime, duration }) => {
      const counted = startTime + duration - Math.max(first, startTime + 50)
      return sum + Math.max(0, counted)
    }, 0)
    return { firstPaintMs: first, largestPaintMs: largest, blockedMs: blocked, layoutShift: shift }
  }
}`
