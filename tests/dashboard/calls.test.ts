import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuleKeeper } from '../support/dashboard.ts'
import { headingOf, openDashboard, setUp } from '../support/open-dashboard.ts'
import { until } from '../support/until.ts'

const dashboard = openDashboard({ account: 'none' })
const { skip } = dashboard
/** A call of the sandbox takes some seconds, and its audio is encoded afterwards. */
const callTimeout = { timeout: 60_000 }
const callEnd = { timeoutMs: 90_000, everyMs: 500 }

let callId: string
const rules = createRuleKeeper()

/** An agent's greeting is long enough that its words are heard before the callee's. */
const greeting = 'Hello, this is a short reminder of your appointment tomorrow morning.'

test('from setup to an agent and a key of the sandbox', { skip }, async () => {
  const { page } = dashboard.visitor
  await setUp(page, dashboard.outdial)
  await headingOf(page, 'Overview').waitFor()
  await page.getByText('Nobody was called today.').waitFor()
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
    const { page } = dashboard.visitor
    const agentId = new URL(page.url()).pathname.split('/').at(-1)
    await page.goto('/settings/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('CRM')
    await dialog.getByRole('checkbox', { name: 'calls:write' }).check()
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    const key = await page.getByLabel('Key', { exact: true }).inputValue()
    const response = await fetch(`${dashboard.outdial.apiUrl}/calls`, {
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

test('its SIP messages stand in order, each with its text', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.getByRole('heading', { level: 2, name: 'SIP messages' }).waitFor()
  await page
    .getByRole('button', { name: /^→ INVITE sip:/ })
    .first()
    .click()
  await page.getByText(/^INVITE sip:/).waitFor()
  await page.getByRole('button', { name: /200 OK \(BYE\)$/ }).waitFor()
})

test('the call is placed again, and the recording of the first is deleted', { skip }, async () => {
  const { page } = dashboard.visitor
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
  const { page } = dashboard.visitor
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
  assert.deepEqual(dashboard.visitor.faults, [])
})
