import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startComposedApi, type Tenant } from '../support/composed-api.ts'

/** D11: quotas limit what an organization stores; beyond them new items are 429, and existing ones stay usable. */

let api: Awaited<ReturnType<typeof startComposedApi>>
let tenant: Tenant

const quotas = { contacts: 2, batches: 2, recipients: 4, idempotency_answers: 7 }

before(async () => {
  api = await startComposedApi()
  // It has one contact, and a batch of one recipient; a call, a batch and a run used three responses.
  tenant = await api.createTenant('Full', { quotas })
})
after(() => api.stop())

const contact = (name: string) => ({
  external_id: name,
  name,
  phone_number: `+1202555010${name}`,
})

const assertFull = (
  { status, body, headers }: Awaited<ReturnType<Tenant['client']['post']>>,
  name: string,
) => {
  const { code, message } = body['error'] as unknown as { code: string; message: string }
  assert.deepEqual([status, code], [429, 'rate_limit_exceeded'])
  assert.match(message, new RegExp(`quota ${name}\\)`))
  assert.equal(headers.get('retry-after'), '3600')
}

test('a contact beyond the quota is refused, an existing one is updated', async () => {
  assert.equal((await tenant.client.post('/contacts', contact('1'))).status, 201)
  assertFull(await tenant.client.post('/contacts', contact('2')), 'contacts')
  const again = await tenant.client.post('/contacts', { ...contact('1'), name: 'Again' })
  assert.equal(again.status, 200)
  const recipient = { agent_id: tenant.ids['agent_id'], recipient: contact('3') }
  assertFull(await tenant.client.post('/calls', recipient), 'contacts')
  const { body } = await tenant.client.get('/contacts')
  assert.equal((body['data'] as unknown as unknown[]).length, 2, 'nothing of the refused stands')
})

test('batches, their recipients and stored responses have their own quotas', async () => {
  const batch = { name: 'B', agent_id: tenant.ids['agent_id'] }
  const one = { ...batch, contact_ids: [tenant.ids['contact_id']] }
  const recipients = Array.from({ length: 4 }, (_, index) => contact(`${index}`))
  assertFull(await tenant.client.post('/batches', { ...batch, recipients }), 'recipients')
  const key = 'kept'
  const made = await tenant.client.post('/batches', one, key)
  assert.equal(made.status, 201)
  assertFull(await tenant.client.post('/batches', one), 'batches')
  const call = { agent_id: tenant.ids['agent_id'], contact_id: tenant.ids['contact_id'] }
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => tenant.client.post('/calls', call)),
  )
  const full = answers.find(({ status }) => status === 429)
  assertFull(full ?? assert.fail('no answer was one too many'), 'idempotency_answers')
  const replay = await tenant.client.post('/batches', one, key)
  assert.equal(replay.status, 201, 'a replay is answered all the same')
  assert.equal(replay.body['id'], made.body['id'])
})
