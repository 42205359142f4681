import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createRuleKeeper } from '../support/dashboard.ts'
import { headingOf, openDashboard } from '../support/open-dashboard.ts'
import { until } from '../support/until.ts'

const dashboard = openDashboard({ account: 'signed-in', path: '/developers/requests' })
const { skip } = dashboard
/** On a machine that has much else to do. */
const patience = { timeoutMs: 120_000, everyMs: 500 }

/** What the service has, as the page may read it. */
const read = <T>(page: Page, path: string): Promise<T> =>
  page.evaluate<T>(`fetch('${path}').then((response) => response.json())`)

const rules = createRuleKeeper()

/** Asks the API with the key that the first start printed. */
const ask = async (path: string, body?: object) => {
  const key = /\bod_\w+/.exec(dashboard.outdial.output())?.[0] ?? assert.fail('No key was printed.')
  const response = await fetch(dashboard.outdial.apiUrl + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json', 'idempotency-key': path + Math.random() }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as { id?: string; data?: { id: string }[] }
}

test(
  'a refused request is found by its group, and a call by the request that made it',
  { skip },
  async () => {
    const { page } = dashboard.visitor
    const agent = (await ask('/agents')).data?.[0]?.id
    await ask('/calls', { agent_id: agent, recipient: { name: 'Grace' } })
    const contact = (await ask('/contacts')).data?.[0]?.id
    const call = await ask('/calls', { agent_id: agent, contact_id: contact })
    await until(
      'the kept requests',
      async () => {
        const { data } = await read<{ data: { made: boolean }[] }>(page, '/console/api-requests')
        return data.some(({ made }) => made) || undefined
      },
      patience,
    )
    await page.reload()
    await page.getByRole('row', { name: /made call/ }).waitFor()
    await rules.hold(page, 'requests')
    await page.getByRole('link', { name: 'placeCall: validation_error' }).click()
    await page.waitForURL(/error_code=validation_error/)
    await page.getByRole('row', { name: /made call/ }).waitFor({ state: 'detached' })
    await page
      .getByRole('table', { name: 'Requests' })
      .getByRole('link', { name: 'POST /calls' })
      .click()
    await headingOf(page, 'API request').waitFor()
    const command = page.locator('pre', { hasText: 'curl' })
    assert.match(await command.innerText(), /Bearer \$OUTDIAL_API_KEY[^]*"name":"•••"/)
    await rules.hold(page, 'request')

    await page.goto(`/calls/${call.id}`)
    const maker = page.getByRole('region', { name: 'The request that made it' })
    await maker.getByRole('link', { name: 'POST /calls' }).click()
    await headingOf(page, 'API request').waitFor()
    await page.getByRole('link', { name: /^made call/ }).click()
    await page.waitForURL(new RegExp(`/calls/${call.id}`))
  },
)

test('usage is shown by day, and costs what was set', { skip }, async () => {
  const { page } = dashboard.visitor
  await until(
    'a counted call',
    async () => {
      const { total } = await read<{ total: { calls: number } }>(page, '/console/usage')
      return total.calls === 1 || undefined
    },
    patience,
  )
  await page.goto('/usage')
  await headingOf(page, 'Usage').waitFor()
  await page.getByRole('row', { name: /^Total 1 / }).waitFor()
  await page.getByLabel('Currency').fill('eur')
  await page.getByLabel('For each call').fill('0.5')
  await page.getByRole('button', { name: 'Save prices' }).click()
  await page.getByRole('row', { name: /^Total 1 .*0\.50 EUR/ }).waitFor()
  await rules.hold(page, 'usage')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  assert.match((await download).suggestedFilename(), /^usage-by-day-/)
  await page.getByLabel('By', { exact: true }).selectOption('key')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByRole('row', { name: /^First key 1 / }).waitFor()
})

test('the first owner sees what the doctor finds, and the nodes', { skip }, async () => {
  const { page } = dashboard.visitor
  await page.goto('/settings/system')
  await headingOf(page, 'System health').waitFor()
  await page.getByRole('row', { name: /^ok database / }).waitFor()
  await page.getByRole('table', { name: 'Nodes' }).getByText('running').waitFor()
  await rules.hold(page, 'health')
})

test('the pages keep the rules', { skip }, () => {
  assert.deepEqual(rules.faults, [])
  assert.deepEqual(dashboard.visitor.faults, [])
})
