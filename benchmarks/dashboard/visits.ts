import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { accessibilityFaults } from '../../tests/support/dashboard.ts'
import { median } from '../queue/figures.ts'
import { warmUps } from './profile.ts'

/** What Chromium reports of visits to one page; medians. */
export interface PageFigures {
  readonly name: string
  /** From the navigation to the first row or word. */
  readonly readyMs: number
  readonly firstPaintMs: number
  /** Time of tasks beyond 50 ms each. */
  readonly blockedMs: number
  readonly layoutShift: number
  readonly accessibilityFaults: number
}

const visits = 7

export const signIn = async (
  browser: Browser,
  origin: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<{ readonly context: BrowserContext; readonly firstLoadKb: number }> => {
  const context = await browser.newContext({ baseURL: origin })
  const page = await context.newPage()
  await page.goto('/login')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation').first().waitFor()
  await page.close()
  return { context, firstLoadKb: await firstLoad(context) }
}

/** Bytes on the wire of the list of calls by a browser that knows nothing yet. */
const firstLoad = async (context: BrowserContext): Promise<number> => {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  let bytes = 0
  session.on('Network.loadingFinished', (event) => {
    bytes += event.encodedDataLength
  })
  await page.goto('/calls')
  await page.locator('tbody tr').first().waitFor()
  await page.close()
  return bytes / 1024
}

/** Visits a page several times, the first of which do not count. `ready` is what a person waits for. */
export const visit = async (
  context: BrowserContext,
  name: string,
  path: string,
  ready: (page: Page) => Locator,
): Promise<PageFigures> => {
  const seen: (Timings & { readonly readyMs: number })[] = []
  let faults = 0
  for (let turn = 0; turn < warmUps + visits; turn += 1) {
    const page = await context.newPage()
    await page.addInitScript(observers)
    const startedMs = performance.now()
    await page.goto(path, { waitUntil: 'commit' })
    await ready(page).first().waitFor()
    const readyMs = performance.now() - startedMs
    await page.waitForLoadState('networkidle')
    const timings = await page.evaluate<Timings>('globalThis.benchTimings()')
    if (turn >= warmUps) seen.push({ ...timings, readyMs })
    if (turn === 0) faults = (await accessibilityFaults(page)).length
    await page.close()
  }
  const of = (figure: (one: (typeof seen)[number]) => number) => median(seen.map(figure))
  return {
    name,
    readyMs: of((one) => one.readyMs),
    firstPaintMs: of((one) => one.firstPaintMs),
    blockedMs: of((one) => one.blockedMs),
    layoutShift: of((one) => one.layoutShift),
    accessibilityFaults: faults,
  }
}

interface Timings {
  readonly firstPaintMs: number
  readonly blockedMs: number
  readonly layoutShift: number
}

/** Runs in the page, before its own scripts. */
const observers = `{
  let blocked = 0, shift = 0
  new PerformanceObserver((list) => { for (const task of list.getEntries()) blocked += task.duration - 50 })
    .observe({ type: 'longtask', buffered: true })
  new PerformanceObserver((list) => { for (const move of list.getEntries()) if (!move.hadRecentInput) shift += move.value })
    .observe({ type: 'layout-shift', buffered: true })
  globalThis.benchTimings = () => ({
    firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
    blockedMs: blocked,
    layoutShift: shift,
  })
}`
