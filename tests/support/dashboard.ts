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

/** What takes a second on an idle machine: tests run beside others, at a lower priority. */
const stepTimeoutMs = 60_000

/** Of each open page of a failed test. */
const maxPageCharacters = 2_000

/** Where each page of some browser contexts is, and what it shows, for the report of a failed test. */
export const describePages = async (contexts: readonly BrowserContext[]): Promise<string> => {
  const pages = contexts.flatMap((context) => context.pages())
  return (await Promise.all(pages.map(describePage))).join('\n')
}

const describePage = async (page: Page): Promise<string> => {
  const [title, text] = await Promise.all([
    page.title().catch(unreadable),
    page.locator('body').innerText({ timeout: 5_000 }).catch(unreadable),
  ])
  const shown = text.length > maxPageCharacters ? `${text.slice(0, maxPageCharacters)} …` : text
  return `--- ${page.url()} · ${title}\n${shown}`
}

const unreadable = (error: unknown): string => `(cannot be read: ${String(error).split('\n')[0]})`

/** Recordings are heard from another port of the same host. */
const isRecording = ({ hostname, pathname }: URL, origin: string): boolean =>
  hostname === new URL(origin).hostname && pathname.startsWith('/recordings/')

export const openVisitor = async (browser: Browser, origin: string): Promise<Visitor> => {
  const context = await browser.newContext({
    baseURL: origin,
    locale: 'en-US',
    // Nothing is judged, and nothing clicked, while it moves.
    reducedMotion: 'reduce',
  })
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

/** Rules whose verdict a theme can change. */
const themeRules = ['color-contrast', 'link-in-text-block'] as const
/** Rules whose verdict the width can change where the same elements are shown. */
const widthRules = ['target-size', 'scrollable-region-focusable'] as const

/** What axe finds wrong with the page as it stands: rule and element of each violation. By default by all its rules. */
export const accessibilityFaults = async (
  page: Page,
  rules?: readonly string[],
): Promise<string[]> => {
  // The content policy keeps scripts out of the page; this one comes through the debugger.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe)
  const found: unknown = await page.evaluate(
    // Without details of what passed, which cost more than the rules.
    `axe.run(document, { runOnly: ${JSON.stringify(rules ?? tags)}, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
        id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`,
  )
  if (!Array.isArray(found)) throw new Error('axe brought no list.')
  return found.map(String)
}

/** Remembers what is to be seen outside the frame that all pages share. */
const rememberElements = `globalThis.seenElements = new WeakSet(
  [...document.body.querySelectorAll(':not(header *, [role=navigation] *, nav *)')].filter((each) => each.checkVisibility()))`

/** Whether anything is to be seen that was not then. */
const showsOthers = `[...document.body.querySelectorAll(':not(header *, [role=navigation] *, nav *)')]
  .some((each) => each.checkVisibility() && !globalThis.seenElements.has(each))`

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

/** The menu of the frame slides away when the width changes. */
const finishMotion = `Promise.all(document.getAnimations().map((each) => {
  if (each.effect?.getComputedTiming().endTime !== Infinity) each.finish()
}))`

const wide = { width: 1280, height: 800 }
const narrow = { width: 320, height: 800 }

/**
 * Holds pages against axe and a phone's width, in both themes; the faults are judged at the end of a file. All rules are
 * tried on the wide page, and on the narrow one where that shows other elements, as a file's first page does with its
 * menu; else those that the theme or the width can change.
 */
export const createRuleKeeper = (screenshots = process.env['OUTDIAL_TEST_SCREENSHOTS']) => {
  const faults: string[] = []
  const held = new Set<string>()
  const show = async (
    page: Page,
    name: string,
    colorScheme: 'light' | 'dark',
    size: typeof wide,
  ) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize(size)
    await page.evaluate(finishMotion)
    const file = `${screenshots}/${name}-${colorScheme}-${size.width}.png`
    if (screenshots) await page.screenshot({ path: file, fullPage: true })
    return `${name}, ${colorScheme}, ${size.width} px`
  }
  const judge = async (page: Page, place: string, rules?: readonly string[]) => {
    faults.push(...(await accessibilityFaults(page, rules)).map((fault) => `${place}: ${fault}`))
  }
  const judgeWidth = async (page: Page, place: string) => {
    const sideways = await sidewaysScroll(page)
    if (sideways > 0) faults.push(`${place}: the page is ${sideways} px too wide`)
  }
  return {
    faults,
    held,
    hold: async (page: Page, name: string): Promise<void> => {
      const inWide = await show(page, name, 'light', wide)
      await judgeWidth(page, inWide)
      await judge(page, inWide)
      await page.evaluate(rememberElements)
      await judge(page, await show(page, name, 'dark', wide), themeRules)
      const inNarrow = await show(page, name, 'light', narrow)
      await judgeWidth(page, inNarrow)
      const isOther = held.size === 0 || (await page.evaluate<boolean>(showsOthers))
      await judge(page, inNarrow, isOther ? undefined : widthRules)
      if (isOther || screenshots)
        await judge(page, await show(page, name, 'dark', narrow), themeRules)
      held.add(name)
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize(wide)
    },
  }
}
