import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startComposedApi, type Tenant } from '../support/composed-api.ts'

/** D19: why work waits, and recordings by the work they belong to. No dispatcher runs here. */

let api: Awaited<ReturnType<typeof startComposedApi>>
let tenant: Tenant
let other: Tenant

before(async () => {
  api = await startComposedApi()
  tenant = await api.createTenant('Explained')
  other = await api.createTenant('Other')
})
after(() => api.stop())

const noDispatcher = { code: 'node_draining', message: 'No dispatcher is running.' }

const explain = async (path: string, of = tenant) => {
  const { status, body } = await of.client.get(`${path}/explanation`)
  return { status, body }
}

test('a queued call reports what it waits for', async () => {
  const { status, body } = await explain(`/calls/${tenant.ids['call_id']}`)
  assert.equal(status, 200)
  const { object, status: state, reasons } = body
  assert.deepEqual([object, state, reasons], ['explanation', 'queued', [noDispatcher]])
  assert.ok(Array.isArray(body['attempts']))
})

test('an ended call waits for nothing', async () => {
  const { body } = await tenant.client.post('/calls', {
    agent_id: tenant.ids['agent_id'],
    contact_id: tenant.ids['contact_id'],
  })
  await tenant.client.post(`/calls/${String(body['id'])}/cancel`, {})
  const explained = await explain(`/calls/${String(body['id'])}`)
  assert.deepEqual([explained.body['status'], explained.body['reasons']], ['cancelled', []])
})

test('a batch reports its reason to wait, in each of its states', async () => {
  const path = `/batches/${tenant.ids['batch_id']}`
  const stateOf = async () => {
    const { body } = await explain(path)
    const reasons = body['reasons'] as unknown as readonly { code: string }[]
    return [body['status'], ...reasons.map(({ code }) => code)]
  }
  assert.deepEqual(await stateOf(), ['draft', 'batch_paused'])
  await tenant.client.post(`${path}/start`, {})
  assert.deepEqual(await stateOf(), ['queued', 'node_draining'])
  await tenant.client.post(`${path}/pause`, {})
  assert.deepEqual(await stateOf(), ['paused', 'batch_paused'])
  await tenant.client.post(`${path}/cancel`, {})
  assert.deepEqual(await stateOf(), ['cancelled'])
})

test('a scheduled batch reports its time', async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const { body } = await tenant.client.post('/batches', {
    name: 'Later',
    agent_id: tenant.ids['agent_id'],
    contact_ids: [tenant.ids['contact_id']],
    scheduled_start_at: at,
  })
  const path = `/batches/${String(body['id'])}`
  await tenant.client.post(`${path}/start`, {})
  const message = 'Its scheduled start is still to come.'
  assert.deepEqual((await explain(path)).body, {
    object: 'explanation',
    status: 'scheduled',
    reasons: [{ code: 'not_before', message, until: at }],
  })
})

test('a run reports what it waits for', async () => {
  const { status, body } = await explain(`/automation-runs/${tenant.ids['run_id']}`)
  assert.equal(status, 200)
  assert.deepEqual(body, {
    object: 'explanation',
    status: 'queued',
    reasons: [{ code: 'next', message: 'It is about to begin.' }],
  })
})

test('the work of other organizations is unknown', async () => {
  for (const path of [
    `/calls/${tenant.ids['call_id']}`,
    `/batches/${tenant.ids['batch_id']}`,
    `/automation-runs/${tenant.ids['run_id']}`,
    '/calls/x',
    '/batches/x',
    '/automation-runs/x',
  ]) {
    const { status, body } = await explain(path, other)
    assert.equal(status, 404, path)
    assert.equal((body['error'] as unknown as { code: string }).code, 'resource_not_found')
  }
})

test('recordings are found by their call, and by nothing else', async () => {
  const idsOf = async (query: string, of = tenant) => {
    const { body } = await of.client.get(`/recordings?${query}`)
    return (body['data'] as unknown as readonly { id: string }[]).map(({ id }) => id)
  }
  const call = tenant.ids['call_id']
  assert.deepEqual(await idsOf(`call_id=${call}`), [tenant.ids['recording_id']])
  assert.deepEqual(await idsOf(`call_id=${other.ids['call_id']}`), [])
  assert.deepEqual(await idsOf(`call_id=${call}`, other), [])
  for (const name of ['batch_id', 'automation_run_id']) {
    assert.deepEqual(await idsOf(`${name}=${tenant.ids['batch_id']}`), [])
    assert.deepEqual(await idsOf(`${name}=none`), [])
  }
})
