import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'

/** A browser that visits the dashboard, and everything it did that it must not. */
export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** Errors of pages and of the console, and requests to other hosts. */
  readonly faults: readonly string[]
}

/** Tests run beside others, at a lower priority. */
const stepTimeoutMs = 30_000

/** Recordings are heard from another port of the same host. */
const isRecording = ({ hostname, pathname }: URL, origin: string): boolean =>
  hostname === new URL(origin).hostname && pathname.startsWith('/recordings/')

export const openVisitor = async (browser: Browser, origin: string): Promise<Visitor> => {
  const context = await browser.newContext({ baseURL: origin, locale: 'en-US' })
  context.setDefaultTimeout(stepTimeoutMs)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A refused request is written there by the browser itself; what the page makes of it is tested.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (/^https?:$/.test(url.protocol) && url.origin !== origin && !isRecording(url, origin))
      faults.push(`foreign: ${url.href}`)
  })
  return { context, page, faults }
}

const axe = readFileSync(
  join(import.meta.dirname, '../../dashboard/node_modules/axe-core/axe.min.js'),
  'utf8',
)

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe finds wrong with the page as it stands: rule and element of each violation. */
export const accessibilityFaults = async (page: Page): Promise<string[]> => {
  // The content policy keeps scripts out of the page; this one comes through the debugger.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe)
  const found: unknown = await page.evaluate(
    // Without details of what passed, which cost more than the rules.
    `axe.run(document, { runOnly: ${JSON.stringify(tags)}, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
        id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`,
  )
  if (!Array.isArray(found)) throw new Error('axe brought no list.')
  return found.map(String)
}

/** A page may take this long to adapt to a new width. */
const adaptLimitMs = 3_000

/** Width beyond which the page itself would scroll sideways, once it has adapted to its width. */
export const sidewaysScroll = async (page: Page): Promise<number> => {
  const deadlineMs = performance.now() + adaptLimitMs
  for (;;) {
    const width = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    if (width <= 0 || performance.now() > deadlineMs) return width
    await page.waitForTimeout(50)
  }
}

/** Holds pages against axe and a phone's width, in both themes; the faults are judged at the end of a file. */
export const createRuleKeeper = (screenshots = process.env['OUTDIAL_TEST_SCREENSHOTS']) => {
  const faults: string[] = []
  const held = new Set<string>()
  return {
    faults,
    held,
    hold: async (page: Page, name: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        for (const width of [1280, 320]) {
          await page.setViewportSize({ width, height: 800 })
          if (screenshots)
            await page.screenshot({
              path: `${screenshots}/${name}-${colorScheme}-${width}.png`,
              fullPage: true,
            })
          const place = `${name}, ${colorScheme}, ${width} px`
          faults.push(...(await accessibilityFaults(page)).map((fault) => `${place}: ${fault}`))
          const sideways = await sidewaysScroll(page)
          if (sideways > 0) faults.push(`${place}: the page is ${sideways} px too wide`)
          held.add(name)
        }
      }
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1280, height: 800 })
    },
  }
}
