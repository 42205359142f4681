import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Operation } from '../../src/contract/define-operation.ts'
import { operations } from '../../src/contract/operations.ts'
import { fuzzApi } from '../fuzz/api-fuzz.ts'
import type { ApiClient } from '../support/api-client.ts'
import { startComposedApi } from '../support/composed-api.ts'

let api: Awaited<ReturnType<typeof startComposedApi>>

before(async () => {
  api = await startComposedApi()
})
after(() => api.stop())

const askEverything = (client: ApiClient, ids: Readonly<Record<string, string>>) =>
  Object.entries<Operation>(operations)
    .filter(([, { path }]) => path.includes('{'))
    .map(async ([name, { method, path }]) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? '')
      const { status } = await (method === 'GET' ? client.get(filled) : client.post(filled, {}))
      return { name, status }
    })

test('no operation reaches another organization’s resources, by path or by body', async () => {
  const [one, other] = [await api.createTenant('One'), await api.createTenant('Other')]
  const own = await Promise.all(askEverything(one.client, one.ids))
  const unreached = own.filter(({ status }) => status === 404).map(({ name }) => name)
  assert.deepEqual(unreached, [])
  for (const { name, status } of await Promise.all(askEverything(other.client, one.ids)))
    assert.equal(status, 404, name)
  const mine = other.ids
  const foreign = one.ids
  const bodies = [
    ['/calls', { agent_id: foreign['agent_id'], contact_id: mine['contact_id'] }],
    ['/calls', { agent_id: mine['agent_id'], contact_id: foreign['contact_id'] }],
    ['/batches', { name: 'b', agent_id: foreign['agent_id'], contact_ids: [mine['contact_id']] }],
    ['/batches', { name: 'b', agent_id: mine['agent_id'], contact_ids: [foreign['contact_id']] }],
    [
      '/automation-runs',
      { automation_id: foreign['automation_id'], contact_id: mine['contact_id'] },
    ],
    [
      '/automation-runs',
      { automation_id: mine['automation_id'], contact_id: foreign['contact_id'] },
    ],
  ] as const
  for (const [path, body] of bodies)
    assert.equal((await other.client.post(path, body)).status, 404, JSON.stringify(body))
})

test('no list filter reaches another organization’s rows', async () => {
  const [one, other] = [await api.createTenant('Lists'), await api.createTenant('Lists too')]
  for (const [path, ids] of [
    ['/calls', ['contact_id', 'agent_id', 'batch_id', 'automation_run_id']],
    ['/automation-runs', ['automation_id', 'contact_id']],
    ['/recordings', ['contact_id']],
  ] as const)
    for (const id of ids) {
      const value = one.ids[id === 'automation_run_id' ? 'run_id' : id]
      const { status, body } = await other.client.get(`${path}?${id}=${value}`)
      assert.deepEqual({ status, data: body['data'] }, { status: 200, data: [] }, `${path} ${id}`)
    }
})

test('5,000 hostile requests to the real handlers get no 5xx, and every response matches the document', async () => {
  const { secret } = await api.createTenant('Fuzzed')
  const found = await fuzzApi({ url: api.url, key: secret, requests: 5000, seed: 23 })
  assert.deepEqual(found.faults, [])
  for (const status of [200, 201, 202, 400, 401, 404, 405, 409])
    assert.ok(found.statuses.has(status), `${status}`)
  assert.deepEqual(found.neverServed, [], 'each operation must succeed now and then')
  assert.ok((found.statuses.get(405) ?? 0) < 5000 / 10, 'few requests may end at the router')
})
