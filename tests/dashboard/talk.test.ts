import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRuleKeeper } from '../support/dashboard.ts'
import { runDashboard } from '../support/dashboard-run.ts'
import { missingPeer } from '../support/peers.ts'

const skip = missingPeer('chromium') ?? false
/** A microphone that beeps, and no question whether it may be used. */
const fakeMicrophone = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
const greeting = 'Hello, this is a reminder of your appointment.'

let run: Awaited<ReturnType<typeof runDashboard>>
const rules = createRuleKeeper()

before(async () => {
  if (!skip) run = await runDashboard(fakeMicrophone)
})
after(async () => {
  if (!skip) await run.stop()
})

test('a draft is talked to by microphone, and no call is made of it', { skip }, async () => {
  const { page } = run.owner
  await page.goto('/agents/new')
  await page.getByLabel('Name').fill('Reminder')
  await page.getByLabel('Greeting').fill(greeting)
  await page.getByLabel('Prompt').fill('Listen to the callee.')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByRole('heading', { level: 1, name: 'Reminder' }).waitFor()
  await page.getByRole('button', { name: 'Talk', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Talk to Reminder' })
  await dialog.getByRole('button', { name: 'Start talking' }).click()
  await dialog.getByText('You are connected. Speak.').waitFor()
  await dialog.locator('.transcript li').filter({ hasText: greeting }).first().waitFor()
  await rules.hold(page, 'talk')
  await dialog.getByRole('button', { name: 'End talk' }).click()
  await dialog.getByText('You ended the talk.').waitFor()
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  await dialog.waitFor({ state: 'detached' })
  await page.goto('/calls')
  await page.getByText('Nobody was called yet.').waitFor()
  await page.goto('/settings/audit')
  await page.getByText('agent.talk').first().waitFor()
})

test('no page breaks a rule of accessibility, and no error was met', { skip }, () => {
  assert.ok(rules.held.size > 0)
  assert.deepEqual(rules.faults, [])
  assert.deepEqual(run.owner.faults, [])
})
