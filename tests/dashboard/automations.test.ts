import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createRuleKeeper } from '../support/dashboard.ts'
import { headingOf, openDashboard } from '../support/open-dashboard.ts'

const dashboard = openDashboard({ account: 'signed-in', path: '/automations' })
const { skip } = dashboard

const rules = createRuleKeeper()

const stepOf = (page: Page, name: string) => page.getByRole('region', { name: `: ${name}` })

/** A step of the flow, by what it says of itself. */
const drawn = (page: Page, name: RegExp) => page.locator('.flow').getByRole('button', { name })

/** Moves the focus to an element by the keyboard alone. */
const tabTo = async (page: Page, name: string): Promise<void> => {
  for (let stops = 0; stops < 200; stops += 1) {
    await page.keyboard.press('Tab')
    const found = await page.evaluate<string>(
      `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`,
    )
    if (found === name) return
  }
  assert.fail(`no stop of the Tab key is ${name}`)
}

test('steps are added, named, changed, moved and removed with the keyboard', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.getByText('There is no Automation yet').waitFor()
  await rules.hold(page, 'automations-empty')
  await page.getByRole('button', { name: 'Create Automation' }).focus()
  await page.keyboard.press('Enter')
  await headingOf(page, 'New Automation').waitFor()
  await page.getByLabel('Name').focus()
  await page.keyboard.type('Follow-up')
  await tabTo(page, 'Add step')
  await page.keyboard.press('Enter')
  // The new step's name has the focus.
  await page.keyboard.press('Control+A')
  await page.keyboard.type('cool_off')
  await page.keyboard.press('Tab')
  await stepOf(page, 'cool_off').waitFor()
  await page.keyboard.type('wait')
  await stepOf(page, 'cool_off').getByLabel('How long').waitFor()
  await tabTo(page, 'Move up: cool_off')
  await page.keyboard.press('Enter')
  await page.getByText('cool_off was moved up.').waitFor()
  assert.equal(await page.getByLabel('Begins at').inputValue(), 'cool_off')
  await tabTo(page, 'Insert below: cool_off')
  await page.keyboard.press('Enter')
  await stepOf(page, 'step_4').waitFor()
  await tabTo(page, 'Remove: step_4')
  await page.keyboard.press('Enter')
  await stepOf(page, 'step_4').waitFor({ state: 'detached' })
  assert.equal(await stepOf(page, 'cool_off').getByLabel('Then').inputValue(), 'first_call')
})

test('problems stand at their step as one types', { skip }, async () => {
  const { page } = dashboard.visitor
  const wait = stepOf(page, 'cool_off')
  await wait.getByLabel('Until a time of day').check()
  await wait.getByLabel('Time of the contact').fill('25:00')
  await wait.getByText('It must be a time from 00:00 to 23:59.').waitFor()
  await page.getByText('1 problem to mend').waitFor()
  await drawn(page, /^cool_off, wait, .*1 problem, leads to first_call$/).waitFor()
  await rules.hold(page, 'automation-problem')
  await wait.getByLabel('Time of the contact').fill('10:00')
  await page.getByText('1 problem to mend').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Validate' }).click()
  await page.getByText('No problem in 3 steps.').waitFor()
})

test(
  'a step is selected in the flow and in the list alike, by mouse and keyboard',
  { skip },
  async () => {
    const { page } = dashboard.visitor
    await drawn(page, /^first_call, call/).click()
    await page.waitForURL(/step=first_call/)
    const current = page.locator('section[aria-current="true"]')
    assert.match((await current.getAttribute('aria-label')) ?? '', /: first_call$/)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/step=done/)
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await page.waitForURL(/step=cool_off/)
    await page.getByRole('button', { name: 'Go to it in the list' }).focus()
    await page.keyboard.press('Enter')
    const named = await page.evaluate<string>('document.activeElement.value')
    assert.equal(named, 'cool_off')
    await stepOf(page, 'done').getByLabel('Kind').focus()
    await page.waitForURL(/step=done/)
    assert.equal(await drawn(page, /^done, end/).getAttribute('aria-pressed'), 'true')
  },
)

test('the JSON and the list show the same Automation', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.getByRole('tab', { name: 'Definition' }).click()
  const json = page.getByRole('textbox', { name: 'Definition' })
  const definition = JSON.parse(await json.inputValue()) as {
    entry: string
    steps: Record<string, Record<string, unknown>>
  }
  assert.equal(definition.entry, 'cool_off')
  assert.equal(definition.steps['cool_off']?.['until_local_time'], '10:00')
  await json.fill('{"entry": ')
  await page.getByText(/JSON/).first().waitFor()
  assert.ok(await page.getByRole('button', { name: 'Publish' }).isDisabled())
  const { steps } = definition
  const written = {
    entry: 'first_call',
    steps: {
      first_call: { ...steps['first_call'], next: 'route' },
      route: {
        type: 'branch',
        cases: [{ when: { answer_status: ['answered'] }, next: 'done' }],
        otherwise: 'cool_off',
      },
      cool_off: { type: 'wait', for: 'PT1H', next: 'first_call' },
      done: steps['done'],
    },
  }
  await json.fill(JSON.stringify(written))
  await rules.hold(page, 'automation-json')
  await page.getByRole('tab', { name: 'Steps' }).click()
  await stepOf(page, 'route').getByLabel('Case 1 leads to').waitFor()
  await stepOf(page, 'first_call').getByLabel('Try again').check()
  await stepOf(page, 'first_call').getByLabel('Attempts in all').fill('2')
  await rules.hold(page, 'automation-steps')
})

test('a simulation shows the path and the instants for the chosen ends', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.getByRole('button', { name: 'Simulate' }).click()
  await page.getByText('first_call → route → done').waitFor()
  await page.getByLabel('Call 1 ends').selectOption('no_answer')
  await page.getByRole('button', { name: 'Add call' }).click()
  await page.getByLabel('Call 2 ends').selectOption('no_answer')
  await page.getByRole('button', { name: 'Add call' }).click()
  await page.getByText('first_call → route → cool_off → first_call → route → done').waitFor()
  await page.getByText(/ends completed .* after 3 calls/).waitFor()
  await rules.hold(page, 'automation-simulation')
})

test(
  'what is published runs for a contact, and the run is followed to its end',
  { skip },
  async () => {
    const { page } = dashboard.visitor
    await page.getByRole('button', { name: 'Publish' }).click()
    await headingOf(page, 'Follow-up').waitFor()
    await page.getByText('Version 1.').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const contact = dialog.getByRole('combobox', { name: 'Contact' })
    await contact.fill('love')
    await dialog.getByRole('option', { name: /^Ada Lovelace, \+12025550100/ }).waitFor()
    await rules.hold(page, 'automation-run')
    await dialog.getByText('1 choice', { exact: true }).waitFor({ state: 'attached' })
    await contact.press('ArrowDown')
    await contact.press('Enter')
    assert.equal(await contact.inputValue(), 'Ada Lovelace, +12025550100')
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    await headingOf(page, /^Run for /).waitFor()
    // The click in the dialog has published nothing.
    await page.getByText(', version 1.').waitFor()
    await page.getByRole('table', { name: 'History' }).waitFor()
    await rules.hold(page, 'run')
    await page.getByRole('heading', { name: 'Where it ended' }).waitFor({ timeout: 60_000 })
    await page.getByText('completed', { exact: true }).first().waitFor()
    await page.getByRole('link', { name: /^Call of move/ }).waitFor()
    await replayRun(page)
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    await page.getByRole('table', { name: 'Runs' }).waitFor()
    await rules.hold(page, 'runs')
    await page.getByLabel('Status').selectOption('failed')
    await page.getByText('Nothing fits these filters.').waitFor()
    assert.match(page.url(), /status=failed/)
    await page.getByLabel('Contact id').fill('nobody')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.waitForURL(/contact_id=nobody/)
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('table', { name: 'Runs' }).waitFor()
    assert.equal(await page.getByLabel('Contact id').inputValue(), '')
  },
)

/** The run went first_call → route → done. */
const replayRun = async (page: Page): Promise<void> => {
  await drawn(page, /^done, end, .*the run is here/).waitFor()
  assert.equal(await page.locator('path.flow-way[data-lit]').count(), 3)
  await page.getByRole('slider', { name: 'Move of the run' }).focus()
  await page.keyboard.press('Home')
  await page.waitForURL(/move=/)
  await drawn(page, /^first_call, call, .*the run is here/).waitFor()
  await page.getByText(/^Move 1 of \d+, .*: start at first_call\./).waitFor()
  assert.equal(await page.locator('path.flow-way[data-lit]').count(), 1)
  await page.getByRole('button', { name: 'Next move' }).click()
  await page
    .getByRole('row', { name: /first_call call/ })
    .and(page.locator('[aria-current]'))
    .waitFor()
  await rules.hold(page, 'run-replay')
  await page.getByRole('button', { name: 'Play' }).click()
  await drawn(page, /^done, end, .*the run is here/).waitFor()
  await page.getByRole('button', { name: 'Play' }).waitFor()
  await page.waitForURL((url) => !url.search.includes('move='))
}

test(
  'versions are compared and taken up again; an archived one is not changed',
  { skip },
  async () => {
    const { page } = dashboard.visitor
    await page.goto('/automations')
    await page.getByRole('link', { name: 'Follow-up', exact: true }).click()
    await headingOf(page, 'Follow-up').waitFor()
    await stepOf(page, 'cool_off').getByLabel('How long').fill('5')
    await page.keyboard.press('Enter')
    await page.getByText('Version 1.').waitFor()
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByText('Version 2.').waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    const differences = page.getByRole('table', { name: 'Differences from version 1' })
    await differences.getByRole('cell', { name: 'steps.cool_off.for' }).waitFor()
    await differences.getByRole('cell', { name: '"PT5H"' }).waitFor()
    assert.match(page.url(), /tab=versions/)
    await rules.hold(page, 'automation-versions')
    await page.getByRole('button', { name: 'Edit version 1 again' }).click()
    await page.getByText('The editor has what version 1 has.').waitFor()
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByText('Version 3.').waitFor()
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive', exact: true }).click()
    await page.getByText('The Automation is archived.').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Publish' }).isDisabled())
    assert.ok(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled())
  },
)

test('a draft is kept without taking runs until it is activated', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.goto('/automations/new')
  await page.getByLabel('Name').fill('Later')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await headingOf(page, 'Later').waitFor()
  await page.getByText('draft', { exact: true }).waitFor()
  const run = page.getByRole('button', { name: 'Run', exact: true })
  assert.ok(await run.isDisabled())
  await page.getByRole('button', { name: 'Activate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
  await page.getByText('active', { exact: true }).waitFor()
  assert.ok(await run.isEnabled())
})

test(
  'the palette goes to a page, an action, a thing by its id and a person',
  { skip },
  async () => {
    const { page } = dashboard.visitor
    const path = new URL(page.url()).pathname
    const id = path.slice(path.lastIndexOf('/') + 1)
    await page.keyboard.press('Control+K')
    const field = page.getByRole('combobox', { name: 'Page, action, name, number or id' })
    await field.waitFor()
    await rules.hold(page, 'palette')
    await field.fill(id.slice(0, 13))
    await page.getByRole('option', { name: /^Later/ }).waitFor()
    await field.fill('ada love')
    await page.getByRole('option', { name: /^Ada Lovelace.*\+12025550100/ }).waitFor()
    await rules.hold(page, 'palette-found')
    await field.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Go to', exact: true }).click()
    await field.fill('calling pol')
    await page.getByRole('option', { name: 'Calling policy' }).click()
    await headingOf(page, 'Calling policy').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Go to', exact: true }).click()
    await field.fill('create k')
    await page.getByRole('option', { name: 'Create key' }).waitFor()
    await page.getByText('1 choice', { exact: true }).waitFor({ state: 'attached' })
    await field.press('Enter')
    await page.getByRole('dialog', { name: 'What the program may do' }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/settings/keys')
  },
)

test('a page whose program is gone after an update is loaded anew once', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.goto('/automations')
  await headingOf(page, 'Automations').waitFor()
  let isGone = true
  page.on('request', (request) => {
    if (request.isNavigationRequest()) isGone = false
  })
  await page.route('**/assets/audit-*.js', (route) => (isGone ? route.abort() : route.continue()))
  // No link, which would fetch the program as soon as the mouse is over it.
  await page.keyboard.press('Control+K')
  await page.getByRole('combobox', { name: 'Page, action, name, number or id' }).fill('audit')
  await page.getByRole('option', { name: 'Audit log' }).click()
  await page.getByText('The dashboard was updated').waitFor()
  await headingOf(page, 'Audit log').waitFor()
  await rules.hold(page, 'reloaded')
  await page.getByRole('button', { name: 'Close the notice' }).click()
  await page.getByText('The dashboard was updated').waitFor({ state: 'detached' })
  await page.unroute('**/assets/audit-*.js')
})

test(
  'no page of it breaks a rule of accessibility, in either theme and on a phone',
  { skip },
  () => {
    assert.ok(rules.held.size >= 9, [...rules.held].join(', '))
    assert.deepEqual(rules.faults, [])
    assert.deepEqual(dashboard.visitor.faults, [])
  },
)
