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
const password = 'correct horse battery'
/** A call of the sandbox takes some seconds, and its audio is encoded afterwards. */
const callTimeout = { timeout: 60_000 }
const callEnd = { timeoutMs: 90_000, everyMs: 500 }

let installation: Awaited<ReturnType<typeof createInstallation>>
let outdial: OutdialProcess
let browser: Browser
let owner: Visitor
let callId: string
const rules = createRuleKeeper()

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
})

after(async () => {
  if (skip) return
  await browser.close()
  await outdial.stop()
  installation.remove()
})

const headingOf = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

/** An agent's greeting is long enough that its words are heard before the callee's. */
const greeting = 'Hello, this is a short reminder of your appointment tomorrow morning.'

test('from setup to an agent and a key of the sandbox', { skip }, async () => {
  const { page } = owner
  const link = /http:\/\/\S+\/setup#\S+/.exec(outdial.output())?.[0]
  assert.ok(link, outdial.output())
  await page.goto(link)
  await page.getByLabel('Organization').fill('Northwind')
  await page.getByLabel('Your name').fill('Olivia Owner')
  await page.getByLabel('Email').fill('olivia@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await headingOf(page, 'Overview').waitFor()
  await page.getByText('Nobody was called today.').waitFor()
  await page.getByTitle('Calls of this organization go to the sandbox').waitFor()
  await page.goto('/agents/new')
  await page.getByLabel('Name').fill('Reminder')
  await page.getByLabel('Greeting').fill(greeting)
  await page.getByLabel('Prompt').fill('Remind the callee of the appointment.')
  await page.getByRole('button', { name: 'Publish' }).click()
  await headingOf(page, 'Reminder').waitFor()
})

test(
  'a call placed with a key of the dashboard plays, and its transcript follows',
  { skip },
  async () => {
    const { page } = owner
    const agentId = new URL(page.url()).pathname.split('/').at(-1)
    await page.goto('/settings/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('CRM')
    await dialog.getByRole('checkbox', { name: 'calls:write' }).check()
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    const key = await page.getByLabel('Key', { exact: true }).inputValue()
    const response = await fetch(`${outdial.apiUrl}/calls`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': 'first-call',
      },
      body: JSON.stringify({
        agent_id: agentId,
        recipient: {
          source: 'crm',
          external_id: 'ada',
          name: 'Ada Lovelace',
          phone_number: '+12025550100',
        },
      }),
    })
    const placed = (await response.json()) as { id: string }
    assert.equal(response.status, 202, JSON.stringify(placed))
    callId = placed.id
    await page.goto(`/calls/${callId}`)
    await headingOf(page, 'Ada Lovelace').waitFor()
    await page.getByRole('slider', { name: 'Position in the recording' }).waitFor(callTimeout)
    await page.getByText('The same call by the API').waitFor()

    const timeOf = () => page.evaluate<number>("document.querySelector('audio').currentTime")
    await page.evaluate<unknown>(
      "(document.querySelector('audio').muted = true, document.querySelector('audio').play())",
    )
    const begun = await timeOf()
    await until('the audio to go on', async () => (await timeOf()) > begun + 0.2 || undefined)
    await page.locator('.transcript li').first().and(page.locator('[aria-current=true]')).waitFor()

    const later = page.locator('.transcript li').nth(1)
    await later.getByRole('button', { name: /^Play from/ }).click()
    await later.and(page.locator('[aria-current=true]')).waitFor()
    const offset = await timeOf()
    assert.ok(offset > 0.5, `${offset} s`)
    await page.evaluate<unknown>("document.querySelector('audio').pause()")
    await page.getByRole('slider', { name: 'Position in the recording' }).press('Home')
    assert.equal(await timeOf(), 0)
    await rules.hold(page, 'call-detail')
  },
)

test('the call is placed again, and the recording of the first is deleted', { skip }, async () => {
  const { page } = owner
  await page.getByRole('button', { name: 'Call again' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Call again' }).click()
  await page.waitForURL((url) => !url.pathname.endsWith(callId))
  await headingOf(page, 'Ada Lovelace').waitFor()
  await page.goto(`/calls/${callId}`)
  await page.getByRole('button', { name: 'Delete recording' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete recording' }).click()
  await page.getByText('The recording was deleted.').waitFor()
  assert.equal(await page.getByLabel('Recording of the call').count(), 0)
})

test('the day so far and the recordings are shown', { skip }, async () => {
  const { page } = owner
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('table', { name: 'Calls by hour' }).waitFor()
  await page.getByRole('link', { name: /live now$/ }).waitFor()
  await rules.hold(page, 'overview')
  await page.getByRole('link', { name: 'Recordings' }).click()
  await until(
    'the recording of the second call',
    async () => {
      const table = page.getByRole('table', { name: 'Recordings' })
      await table.or(page.getByText('There is no recording yet')).waitFor()
      if (await table.isVisible()) return true
      await page.reload()
      return undefined
    },
    callEnd,
  )
  await rules.hold(page, 'recordings')
  await page.getByRole('link', { name: 'Ada Lovelace' }).click()
  await headingOf(page, 'Ada Lovelace').waitFor()
})

test('no page breaks a rule of accessibility, and no error was met', { skip }, () => {
  assert.ok(rules.held.size >= 3)
  assert.deepEqual(rules.faults, [])
  assert.deepEqual(owner.faults, [])
})
