import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  cellState,
  paint,
  weekOf,
  windowsOf,
  type Window,
} from '../../dashboard/src/pages/policy-hours.ts'
import { numbersOfFile } from '../../dashboard/src/pages/numbers-of-file.ts'
import { createRuleKeeper } from '../support/dashboard.ts'
import { headingOf, openDashboard } from '../support/open-dashboard.ts'
import { until } from '../support/until.ts'

const dashboard = openDashboard({ account: 'signed-in', path: '/policy' })
const { skip } = dashboard

const rules = createRuleKeeper()

const cell = (page: Page, name: string) => page.getByRole('gridcell', { name, exact: true })

/** The policy as the service has it. */
const stored = async (page: Page) =>
  page.evaluate<{ windows: Window[]; time_zone: string; country?: string }>(
    `fetch('/console/policy').then((response) => response.json())`,
  )

const storePolicy = (page: Page, file: object): Promise<number> =>
  page.evaluate<number>(
    `fetch('/console/policy', { method: 'PATCH', headers: { 'content-type': 'application/json' },
       body: ${JSON.stringify(JSON.stringify(file))} }).then(({ status }) => status)`,
  )

test('the grid is painted by keyboard, tells what follows, and saves', { skip }, async () => {
  const { page } = dashboard.visitor
  const first = cell(page, 'Monday 09:00')
  assert.equal(await first.getAttribute('aria-selected'), 'true')
  await first.focus()
  await page.keyboard.press('Space')
  assert.equal(await first.getAttribute('aria-selected'), 'false')
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Shift+ArrowDown')
  assert.equal(await cell(page, 'Monday 10:00').getAttribute('aria-selected'), 'false')
  assert.equal(await cell(page, 'Tuesday 10:00').getAttribute('aria-selected'), 'false')
  assert.equal(await cell(page, 'Tuesday 09:00').getAttribute('aria-selected'), 'true')
  await page.getByText(/Of \d+ queued calls/).waitFor()
  await rules.hold(page, 'policy')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await until('the saved policy', async () => {
    const week = weekOf((await stored(page)).windows)
    return cellState(week, 'tuesday', 10) === 'closed' || undefined
  })
  const week = weekOf((await stored(page)).windows)
  assert.deepEqual(
    [9, 10, 11].map((hour) => cellState(week, 'monday', hour)),
    ['closed', 'closed', 'open'],
  )
  await page.reload()
  await cell(page, 'Monday 10:00').waitFor()
  assert.equal(await cell(page, 'Monday 10:00').getAttribute('aria-selected'), 'false')
})

test('the mouse paints over several hours', { skip }, async () => {
  const { page } = dashboard.visitor
  await cell(page, 'Wednesday 02:00').hover()
  await page.mouse.down()
  await cell(page, 'Wednesday 03:00').hover()
  await cell(page, 'Wednesday 04:00').hover()
  await page.mouse.up()
  await cell(page, 'Wednesday 06:00').hover()
  const states = await Promise.all(
    ['02', '03', '04', '05', '06'].map((hour) =>
      cell(page, `Wednesday ${hour}:00`).getAttribute('aria-selected'),
    ),
  )
  assert.deepEqual(states, ['false', 'false', 'false', 'true', 'true'])
})

test('windows and members that the grid cannot show survive a save', { skip }, async () => {
  const { page } = dashboard.visitor
  const file = {
    time_zone: 'Europe/Berlin',
    windows: [
      { weekdays: ['monday', 'friday'], start_time: '08:45', end_time: '12:10' },
      { weekdays: ['friday'], start_time: '12:00', end_time: '13:00' },
    ],
    allowed_countries: ['DE', 'US'],
    country: 'DE',
    allowed_extensions: ['200'],
  }
  assert.equal(await storePolicy(page, file), 200)
  await page.reload()
  await page.getByLabel('Attempts per number and day').fill('3')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const saved = await until('the saved limit', async () => {
    const policy = await stored(page)
    return 'attempts_per_number_per_day' in policy ? policy : undefined
  })
  assert.deepEqual(saved, { ...file, attempts_per_number_per_day: 3 })
})

test('holidays are added and removed by keyboard, and a save keeps them', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.reload()
  await page.getByLabel('Day', { exact: true }).fill('2026-12-25')
  await page.getByLabel('Name of the day').fill('Christmas Day')
  await page.getByLabel('Every year').focus()
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Add holiday' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('cell', { name: 'Christmas Day', exact: true }).waitFor()
  await page.getByRole('cell', { name: '12-25', exact: true }).waitFor()
  await page.getByLabel('Day', { exact: true }).fill('2027-05-01')
  await page.getByLabel('Name of the day').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('cell', { name: '2027-05-01', exact: true }).waitFor()
  await page.getByText(/would ring later than by the policy as it is/).waitFor()
  await rules.hold(page, 'holidays')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const holidaysOf = (file: unknown) => (file as { holidays?: { date: string }[] }).holidays ?? []
  const saved = await until('the saved holidays', async () => {
    const holidays = holidaysOf(await stored(page))
    return holidays.length === 2 ? holidays : undefined
  })
  assert.deepEqual(saved, [
    { date: '2026-12-25', name: 'Christmas Day', every_year: true },
    { date: '2027-05-01' },
  ])
  // The saved file draws the form anew, which would take the focus away.
  await page.reload()
  await page.getByRole('button', { name: 'Remove 2027-05-01' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('cell', { name: '2027-05-01', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await until('one holiday', async () => holidaysOf(await stored(page)).length === 1 || undefined)
})

test('the do-not-call list takes a number and a file', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.getByLabel('Number', { exact: true }).fill('+1 202 555 0171')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('cell', { name: '+12025550171', exact: true }).waitFor()
  const bytes = Buffer.from('name,phone\nAda,+12025550172\nBob,"+1 (202) 555-0173"\nEve,call me\n')
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'blocked.csv', mimeType: 'text/csv', buffer: bytes })
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('2 added, 0 were on the list or came twice, 1 are no numbers').waitFor()
  await page.getByLabel('Find').fill('+12025550173')
  await page.getByRole('cell', { name: '+12025550171', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove +12025550173' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('No number begins with this.').waitFor()
  await rules.hold(page, 'do-not-call')
})

test('the settings of the organization are changed, and only what differs', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.goto('/settings/organization')
  await headingOf(page, 'Organization').waitFor()
  await page.getByLabel('Calls at one time').fill('9')
  await page.getByLabel('Days that recordings and words are kept').fill('30')
  await page.getByText('This cannot be undone').waitFor()
  await page.getByLabel('What people get who call its numbers').fill('decline:486')
  await page.getByText('Nobody has called one of the numbers').waitFor()
  await rules.hold(page, 'organization')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const saved = await until('the saved settings', async () => {
    const settings = await page.evaluate<Record<string, unknown>>(
      `fetch('/console/organization').then((response) => response.json())`,
    )
    return settings['concurrency'] === 9 ? settings : undefined
  })
  assert.deepEqual([saved['retention_days'], saved['public_api_enabled']], [30, true])
  assert.equal(saved['calls_back'], 'decline:486')
})

test('the page broke no rule of accessibility and met no error', { skip }, () => {
  assert.deepEqual(rules.faults, [])
  assert.deepEqual(dashboard.visitor.faults, [])
})

test('painting an hour leaves every other minute as it is', () => {
  const windows: Window[] = [
    { weekdays: ['monday', 'friday'], start_time: '08:45', end_time: '12:10' },
    { weekdays: ['monday'], start_time: '12:00', end_time: '24:00' },
  ]
  const week = weekOf(windows)
  assert.deepEqual(week.monday, [[525, 1440]])
  assert.equal(cellState(week, 'friday', 8), 'partly')
  const closed = paint(week, 'friday', 10, false)
  assert.deepEqual(closed.friday, [
    [525, 600],
    [660, 730],
  ])
  assert.deepEqual(paint(closed, 'friday', 10, true), week)
  assert.deepEqual(windowsOf(week), [
    { weekdays: ['monday'], start_time: '08:45', end_time: '24:00' },
    { weekdays: ['friday'], start_time: '08:45', end_time: '12:10' },
  ])
  assert.deepEqual(weekOf(windowsOf(closed)), closed)
})

test('a file of numbers is read to its bounds', async () => {
  const fileOf = (text: string, size = text.length) => ({ size, text: async () => text })
  const { numbers } = await numbersOfFile(fileOf('\uFEFF"+12025550100"\r\n\r\n 4711 ;x\n'))
  assert.deepEqual(numbers, [
    { line: 1, text: '+12025550100' },
    { line: 3, text: '4711' },
  ])
  const tooBig = await numbersOfFile(fileOf('+12025550100', 11 * 1024 * 1024))
  assert.match(tooBig.refused ?? '', /10 MB/)
  const tooLong = await numbersOfFile(fileOf('+12025550100\n'.repeat(100_002)))
  assert.match(tooLong.refused ?? '', /100000 lines/)
})
