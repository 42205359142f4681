import type { Page } from 'playwright-core'
import { accessibilityFaults, sidewaysScroll } from './dashboard.ts'

/** Where pictures of pages are kept, if anywhere. */
const screenshots = process.env['OUTDIAL_TEST_SCREENSHOTS']

/** Holds pages against axe and a phone's width; one page's fault hides no other's. */
export const createHeldPages = () => {
  const faults: string[] = []
  const names: string[] = []
  return {
    faults,
    names,
    /** In both themes and two widths. */
    async hold(page: Page, name: string): Promise<void> {
      names.push(name)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        for (const width of [1280, 320]) {
          await page.setViewportSize({ width, height: 800 })
          const place = `${name}-${colorScheme}-${width}`
          if (screenshots)
            await page.screenshot({ path: `${screenshots}/${place}.png`, fullPage: true })
          faults.push(...(await accessibilityFaults(page)).map((fault) => `${place}: ${fault}`))
          const sideways = await sidewaysScroll(page)
          if (sideways > 0) faults.push(`${place}: the page is ${sideways} px too wide`)
        }
      }
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1280, height: 800 })
    },
  }
}
