import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchThrifty } from '../support/chromium.ts'
import { createRuleKeeper, openVisitor, type Visitor } from '../support/dashboard.ts'
import {
  createInstallation,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { missingPeer } from '../support/peers.ts'
import { until } from '../support/until.ts'
import { openVanishingTrunk } from '../support/vanishing-trunk.ts'

const skip = missingPeer('chromium') ?? false
const patience = { timeoutMs: 120_000, everyMs: 1_000 }
const credentials = { email: 'first@example.com', password: 'correct horse battery' }

let installation: Awaited<ReturnType<typeof createInstallation>>
let outdial: OutdialProcess
let browser: Browser
let visitor: Visitor

before(async () => {
  if (skip) return
  installation = await createInstallation({
    OUTDIAL_ADMIN_EMAIL: credentials.email,
    OUTDIAL_ADMIN_PASSWORD: credentials.password,
  })
  outdial = await startOutdial(installation.env)
  const origin = `http://127.0.0.1:${installation.env['OUTDIAL_DASHBOARD_PORT']}`
  browser = await launchThrifty()
  visitor = await openVisitor(browser, origin)
  await until(
    'the built dashboard',
    async () => ((await fetch(origin)).status === 200 ? true : undefined),
    patience,
  )
  const { page } = visitor
  await page.goto('/login?next=/settings/telephony')
  await page.getByLabel('Email').fill(credentials.email)
  await page.getByLabel('Password').fill(credentials.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await headingOf(page, 'Telephony').waitFor()
})

after(async () => {
  if (skip) return
  await browser.close()
  await outdial.stop()
  installation.remove()
})

const headingOf = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

const rules = createRuleKeeper()

test('a trunk is added, tested, changed, paused and removed on its page', { skip }, async () => {
  const { page } = visitor
  const trunk = await openVanishingTrunk()
  try {
    await page.getByText('There is no trunk yet').waitFor()
    await rules.hold(page, 'telephony-empty')
    await page.getByRole('button', { name: 'Add trunk' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('carrier')
    await dialog.getByLabel('Gateways').fill(`sip:127.0.0.1:${trunk.port}`)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const row = page.getByRole('table', { name: 'Trunks' }).getByRole('row', { name: /^carrier/ })
    await row.waitFor()
    await rules.hold(page, 'telephony')

    await page.getByRole('button', { name: 'Test carrier' }).click()
    await page.getByText('Every gateway passed.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Edit carrier' }).click()
    await page.getByRole('dialog').getByLabel('Channels').fill('7')
    await page.getByRole('dialog').getByLabel('Redirects').fill('127.0.0.1, edge.example')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await row.getByText('0 of 7').waitFor()
    await page.getByRole('button', { name: 'Edit carrier' }).click()
    const kept = page.getByRole('dialog').getByLabel('Redirects')
    assert.equal(await kept.inputValue(), '127.0.0.1, edge.example')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Pause carrier' }).click()
    await page.getByRole('button', { name: 'Resume carrier' }).waitFor()
    await row.getByText('paused').waitFor()

    await page.getByRole('button', { name: 'Remove carrier' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('There is no trunk yet').waitFor()
    assert.deepEqual([...visitor.faults, ...rules.faults], [])
  } finally {
    await trunk.close()
  }
})
