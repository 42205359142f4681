import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuleKeeper } from '../support/dashboard.ts'
import { openDashboard } from '../support/open-dashboard.ts'

const dashboard = openDashboard({ account: 'signed-in', path: '/settings/numbers' })
const { skip } = dashboard
const rules = createRuleKeeper()

test('a number is added, changed, rested, resumed and removed on its page', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.getByText('There is no number yet').waitFor()
  await rules.hold(page, 'numbers-empty')
  await page.getByRole('button', { name: 'Add number' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Number').fill('12345')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Number').fill('+12125550123')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  const row = page.getByRole('table', { name: 'Numbers' }).getByRole('row', { name: /\+1212/ })
  await row.getByText('0, no limit').waitFor()
  await rules.hold(page, 'numbers')

  await page.getByRole('button', { name: 'Edit +12125550123' }).click()
  await dialog.getByLabel('Calls a day').fill('200')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row.getByText('0 of 200').waitFor()

  await page.getByRole('button', { name: 'Rest +12125550123' }).click()
  await row.getByText('resting', { exact: true }).waitFor()
  await row.getByText('An administrator let it rest.').waitFor()
  await page.getByRole('button', { name: 'Resume +12125550123' }).click()
  await row.getByText('active', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Remove +12125550123' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('There is no number yet').waitFor()
  // The refused number is one answer of 400, which the browser reports.
  const faults = dashboard.visitor.faults.filter((fault) => !fault.includes('400'))
  assert.deepEqual([...faults, ...rules.faults], [])
})
