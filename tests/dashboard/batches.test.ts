// Runs beside others: it waits for most of its 40 s.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { createRuleKeeper, openVisitor, type Visitor } from '../support/dashboard.ts'
import {
  createInstallation,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { missingPeer } from '../support/peers.ts'
import { until } from '../support/until.ts'

const skip = missingPeer('chromium') ?? false

let installation: Awaited<ReturnType<typeof createInstallation>>
let outdial: OutdialProcess
let browser: Browser
let owner: Visitor

before(async () => {
  if (skip) return
  installation = await createInstallation()
  outdial = await startOutdial(installation.env)
  const origin = `http://127.0.0.1:${installation.env['OUTDIAL_DASHBOARD_PORT']}`
  browser = await launchChromium()
  owner = await openVisitor(browser, origin)
  await until('the built dashboard', async () => {
    const response = await fetch(origin)
    return response.status === 200 || undefined
  })
  const { page } = owner
  await page.goto(/http:\/\/\S+\/setup#\S+/.exec(outdial.output())?.[0] ?? assert.fail())
  await page.getByLabel('Organization').fill('Northwind')
  await page.getByLabel('Your name').fill('Olivia Owner')
  await page.getByLabel('Email').fill('olivia@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('button', { name: /^Organization / }).waitFor()
  // The owner of every organization that had none begins in the sandbox.
  await page.getByTitle('Calls of this organization go to the sandbox').waitFor()
})

after(async () => {
  if (skip) return
  await browser.close()
  await outdial.stop()
  installation.remove()
})

const headingOf = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

const rules = createRuleKeeper()

const file = (text: string) => ({
  name: 'people.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(text),
})

const figure = (page: Page, name: string) =>
  page.locator('dl > div', { has: page.getByText(name, { exact: true }) }).locator('dd')

const people = `Id;Who;Telephone
c1;Ada;+12025550101
c2;;+12025550102
c1;Ada again;+12025550103
`

test('a file with bad rows is mended in place and becomes a finished batch', { skip }, async () => {
  const { page } = owner
  await page.getByRole('link', { name: 'Batches' }).click()
  await page.getByText('There is no batch yet.').waitFor()
  await rules.hold(page, 'batches-empty')
  await page.getByRole('button', { name: 'New batch' }).click()
  await headingOf(page, 'New batch').waitFor()
  await page.getByLabel('CSV file').setInputFiles(file(people))
  await page.getByLabel('Field of Id').selectOption('external_id')
  await page.getByLabel('Field of Who').selectOption('name')
  await page.getByLabel('Field of Telephone').selectOption('phone_number')
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await figure(page, 'Ready').getByText('1', { exact: true }).waitFor()
  assert.equal(await figure(page, 'Duplicate').innerText(), '1')
  assert.equal(await figure(page, 'Invalid').innerText(), '1')
  await page.getByLabel('name of row 3').waitFor()
  await rules.hold(page, 'new-batch-refused')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download rejected rows' }).click()
  assert.equal((await download).suggestedFilename(), 'rejected.csv')
  await page.getByLabel('name of row 3').fill('Grace')
  await page.getByLabel('external id of row 4').fill('c3')
  await page.getByRole('button', { name: 'Check the mended rows' }).click()
  await figure(page, 'Ready').getByText('3', { exact: true }).waitFor()

  await page.getByLabel('Name', { exact: true }).fill('Friday reminders')
  await page.getByLabel('Only within certain hours').check()
  await page.getByRole('button', { name: 'Show when they may be called' }).click()
  await page.getByRole('cell', { name: 'America/New_York' }).waitFor()
  await rules.hold(page, 'new-batch')
  await page.getByLabel('Only within certain hours').uncheck()
  await page.getByRole('button', { name: 'Create draft of 3' }).click()
  await headingOf(page, 'Friday reminders').waitFor()
  await page.getByText('The batch is a draft: start it.').waitFor()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.locator('main').getByText('completed', { exact: true }).first().waitFor({
    timeout: 60_000,
  })
  await figure(page, 'Completed').getByText('3', { exact: true }).waitFor({ timeout: 60_000 })
  assert.equal(await figure(page, 'Queued').innerText(), '0')
  await rules.hold(page, 'batch')
  await page.getByRole('link', { name: 'Batches' }).click()
  await page.getByRole('cell', { name: '3 of 3' }).waitFor()
  await rules.hold(page, 'batches')
})

test('contacts are imported, and a batch is drafted of chosen ones', { skip }, async () => {
  const { page } = owner
  await page.getByRole('link', { name: 'Contacts' }).click()
  await page.getByRole('button', { name: 'Import a file' }).click()
  await headingOf(page, 'Import contacts').waitFor()
  await rules.hold(page, 'import')
  await page
    .getByLabel('CSV file')
    .setInputFiles(file('external_id,name,phone_number\nd1,Joan,+12025550104\nd2,Bad,12\n'))
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await page.getByRole('button', { name: 'Import 1 contacts, leave out 1 rows' }).click()
  await page.getByText('1 contacts: 1 new, 0 updated.').waitFor()
  await page.getByRole('link', { name: 'See the contacts' }).click()
  await page.getByLabel('Select Joan').check()
  await page.getByLabel('Select Grace').check()
  assert.match(page.url(), /selected=/)
  await rules.hold(page, 'contacts')
  await page.getByRole('button', { name: 'New batch of 2' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Chosen ones')
  await page.getByRole('button', { name: 'Create draft of 2' }).click()
  await headingOf(page, 'Chosen ones').waitFor()
  await page.getByRole('button', { name: 'Cancel the batch' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click()
  await figure(page, 'Cancelled').getByText('2', { exact: true }).waitFor()
})

test('a contact is edited, blocked and erased with a receipt', { skip }, async () => {
  const { page } = owner
  await page.getByRole('link', { name: 'Contacts' }).click()
  await page.getByRole('link', { name: 'Grace' }).click()
  await headingOf(page, 'Grace').waitFor()
  await page.getByRole('table', { name: 'Calls' }).waitFor()
  await page.getByLabel('Company').fill('Navy')
  await page.getByLabel('Name', { exact: true }).fill('Grace Hopper')
  await page.getByRole('button', { name: 'Save' }).click()
  await headingOf(page, 'Grace Hopper').waitFor()
  await page.getByRole('button', { name: 'Do not call' }).click()
  await page.getByText('do not call', { exact: true }).waitFor()
  await rules.hold(page, 'contact')
  await page.getByRole('button', { name: 'Erase the contact' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Erase', exact: true }).click()
  await headingOf(page, 'Contact erased').waitFor()
  await page.getByText('olivia@example.com').first().waitFor()
  await rules.hold(page, 'contact-erased')
})

test('no page breaks a rule of accessibility, in either theme and on a phone', { skip }, () => {
  assert.ok(rules.held.size >= 8, `only ${[...rules.held].join(', ')}`)
  assert.deepEqual(rules.faults, [])
})

test('the owner met no error and asked no other host', { skip }, () => {
  assert.deepEqual(owner.faults, [])
})
