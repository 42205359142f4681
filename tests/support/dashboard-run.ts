import { launchChromium } from './chromium.ts'
import { openVisitor } from './dashboard.ts'
import { createInstallation, startOutdial } from './outdial-process.ts'
import { until } from './until.ts'

/** On a machine that does much else. */
const patienceMs = 120_000

/** The service with its built dashboard, and an owner of a sandbox organization in Chromium. */
export const runDashboard = async (chromiumArguments: readonly string[] = []) => {
  const installation = await createInstallation()
  const outdial = await startOutdial(installation.env, patienceMs)
  const origin = `http://127.0.0.1:${installation.env['OUTDIAL_DASHBOARD_PORT']}`
  const browser = await launchChromium(chromiumArguments)
  const owner = await openVisitor(browser, origin)
  owner.context.setDefaultTimeout(patienceMs)
  const built = async () => (await fetch(origin)).status === 200 || undefined
  await until('the built dashboard', built, { timeoutMs: patienceMs })
  const { page } = owner
  const link = /http:\/\/\S+\/setup#\S+/.exec(outdial.output())?.[0]
  if (link === undefined) throw new Error(outdial.output())
  await page.goto(link)
  await page.getByLabel('Organization').fill('Northwind')
  await page.getByLabel('Your name').fill('Olivia Owner')
  await page.getByLabel('Email').fill('olivia@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return {
    origin,
    owner,
    stop: async (): Promise<void> => {
      await browser.close()
      await outdial.stop()
      installation.remove()
    },
  }
}
