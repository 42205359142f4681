import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createRuleKeeper } from '../support/dashboard.ts'
import { runDashboard } from '../support/dashboard-run.ts'
import { missingPeer } from '../support/peers.ts'

const skip = missingPeer('chromium') ?? false
/** Answers, and talks until the other side hangs up. */
const talker = '+12025550108'

let run: Awaited<ReturnType<typeof runDashboard>>
const rules = createRuleKeeper()

before(async () => {
  if (!skip) run = await runDashboard()
})
after(async () => {
  if (!skip) await run.stop()
})

const headingOf = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

test('an organization, an agent and a call that goes on', { skip }, async () => {
  const { page, context } = run.owner
  await page.goto('/live')
  await page.getByText('No call goes on now.').waitFor()
  await page.goto('/agents/new')
  await page.getByLabel('Name').fill('Reminder')
  await page.getByLabel('Greeting').fill('Hello, this is a reminder of your appointment.')
  await page.getByLabel('Prompt').fill('Listen to the callee.')
  await page.getByRole('button', { name: 'Publish' }).click()
  await headingOf(page, 'Reminder').waitFor()
  const agentId = new URL(page.url()).pathname.split('/').at(-1)
  const placed = await context.request.post('/console/calls', {
    headers: { origin: run.origin },
    data: { agent_id: agentId, phone_number: talker },
  })
  assert.equal(placed.status(), 202, await placed.text())
})

test('the page shows the call with the words as they are spoken', { skip }, async () => {
  const { page } = run.owner
  await page.goto('/live')
  const row = page.getByRole('table', { name: 'Live calls' }).getByRole('row').nth(1)
  await row.getByText('in progress').waitFor()
  await row.getByRole('link', { name: talker }).waitFor()
  await row.getByText(/^(?:agent|callee)$/).waitFor()
  await rules.hold(page, 'live')
  await row.getByRole('button', { name: /^Listen/ }).click()
  // Three seconds of sound have come.
  await page.getByText('Heard 0:03').waitFor()
  await page.getByRole('button', { name: 'Stop listening' }).click()
  await page.getByLabel('Contact or number').fill('nobody')
  await page.getByText('No live call fits these filters.').waitFor()
  assert.equal(new URL(page.url()).searchParams.get('find'), 'nobody')
  await page.getByRole('button', { name: 'Clear' }).click()
  await row.getByRole('link', { name: talker }).click()
})

test('the page of the call shows what is said, and hangs up', { skip }, async () => {
  const { page } = run.owner
  const lines = page.locator('.transcript li')
  await lines.first().waitFor()
  const before = await lines.count()
  await lines.nth(before).waitFor()
  await page.getByRole('button', { name: 'Listen', exact: true }).click()
  await page.getByText('The agent is on the left').waitFor()
  await rules.hold(page, 'live-call')
  await page.getByRole('button', { name: 'Hang up the call' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Hang up', exact: true }).click()
  await page.getByRole('button', { name: 'Call again' }).waitFor()
  await dialog.waitFor({ state: 'detached' })
  await page.goto('/live')
  await page.getByText('No call goes on now.').waitFor()
  await page.goto('/settings/audit')
  await page.getByText('call.cancel').first().waitFor()
  await page.getByText('call.listen').first().waitFor()
})

test('no page breaks a rule of accessibility, and no error was met', { skip }, () => {
  assert.ok(rules.held.size >= 2)
  assert.deepEqual(rules.faults, [])
  assert.deepEqual(run.owner.faults, [])
})
