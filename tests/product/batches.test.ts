// Runs beside others: it waits for most of its 41 s.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Batch } from '../../src/contract/batches.ts'
import type { ApiClient } from '../support/api-client.ts'
import { isConsistent } from '../support/batch-fixture.ts'
import {
  askOutdial,
  createInstallation,
  runOutdial,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'

/** Batches over HTTP and from a file, dialled by the program against its own sandbox carrier. */

/** A short ring limit, so that the test does not wait long for the callee who never answers. */
const ringSeconds = '3'

let installation: Awaited<ReturnType<typeof createInstallation>>
let outdial: OutdialProcess
let api: ApiClient
let org: string
let agent: string

before(async () => {
  installation = await createInstallation({ OUTDIAL_RING_TIMEOUT_SECONDS: ringSeconds })
  outdial = await startOutdial(installation.env)
  ;({ org, agent, api } = await openSandboxTenant(outdial))
})

after(async () => {
  assert.equal(await outdial.stop(), 0)
  installation.remove()
})

const numbers = ['+12025550100', '+12025550101', '+12025550102', '+12025550104']
const recipients = numbers.map((phone_number) => ({
  external_id: phone_number,
  name: 'Ada Lovelace',
  phone_number,
}))

const read = async (id: string): Promise<Batch> => {
  const { status, body } = await api.get(`/batches/${id}`)
  assert.equal(status, 200)
  return body as unknown as Batch
}

test('a batch over HTTP dials the busy, the silent, the unreachable and the talkative', async () => {
  const input = { name: 'Mixed', agent_id: agent, recipients }
  const created = await api.post('/batches', input, 'batch-1')
  assert.equal(created.status, 201)
  const { id } = created.body as unknown as Batch
  assert.equal(created.headers.get('location'), `/batches/${id}`)
  const replayed = await api.post('/batches', input, 'batch-1')
  assert.equal(replayed.headers.get('idempotent-replayed'), 'true')
  assert.equal(replayed.body['id'], id)

  const started = await api.post(`/batches/${id}/start`, {}, 'start-1')
  assert.equal(started.status, 202)
  assert.equal(started.body['status'], 'queued')
  const again = await api.post(`/batches/${id}/start`, {}, 'start-1')
  assert.equal(again.status, 202, 'a repeated start is a replay')
  assert.equal((await api.post(`/batches/${id}/start`, {})).status, 409)

  const seen: Batch[] = []
  const over = await until(
    'the batch to end',
    async () => {
      const batch = await read(id)
      seen.push(batch)
      return batch.completed_at === undefined ? undefined : batch
    },
    { timeoutMs: 120_000, everyMs: 100 },
  )
  assert.deepEqual(
    seen.filter((batch) => !isConsistent(batch)),
    [],
  )
  assert.equal(over.status, 'completed')
  assert.ok(over.started_at)
  assert.deepEqual(
    [
      over.completed_recipients,
      over.failed_recipients,
      over.answered_recipients,
      over.no_answer_recipients,
      over.busy_recipients,
    ],
    [3, 1, 1, 1, 1],
  )
  const calls = (await api.get(`/calls?batch_id=${id}`)).body['data'] as unknown as {
    batch_id: string
    contact_id: string
  }[]
  assert.equal(calls.length, 4)
  assert.equal(new Set(calls.map((call) => call.contact_id)).size, 4)
  assert.ok(calls.every((call) => call.batch_id === id))
  const listed = (await api.get('/batches?status=completed')).body['data'] as unknown as Batch[]
  assert.deepEqual(listed[0], over)
})

test('a scheduled batch starts by itself, and a cancelled one makes no call', async () => {
  const soon = new Date(Date.now() + 1500).toISOString()
  const input = { name: 'Later', agent_id: agent, recipients: recipients.slice(1, 2) }
  const draft = await api.post('/batches', { ...input, scheduled_start_at: soon })
  const later = String(draft.body['id'])
  assert.equal((await api.post(`/batches/${later}/start`, {})).body['status'], 'scheduled')
  const other = await api.post('/batches', { ...input, name: 'Never' })
  const cancelled = await api.post(`/batches/${String(other.body['id'])}/cancel`, {})
  assert.equal(cancelled.status, 200)
  assert.equal(cancelled.body['cancelled_recipients'], 1)

  const over = await until('the scheduled batch to end', async () => {
    const batch = await read(later)
    return batch.completed_at === undefined ? undefined : batch
  })
  assert.equal(over.status, 'completed')
  assert.equal(over.busy_recipients, 1)
  assert.ok(String(over.started_at) >= soon, `${String(over.started_at)} is before ${soon}`)
})

test('a file is run from the command line, and refused as a whole if a row is bad', async () => {
  const file = join(installation.data, 'people.csv')
  const lines = [
    '\uFEFFExternal ID;Name;Phone Number',
    'c1;Ada;+12025550107',
    'c2;Grace;+12025550109',
  ]
  await writeFile(file, lines.join('\r\n'))
  const options = ['--org', org, '--agent', agent]
  const batch = await askOutdial<Batch>(
    installation.env,
    'batch',
    'run',
    file,
    ...options,
    '--watch',
  )
  assert.equal(batch.status, 'completed')
  assert.deepEqual([batch.busy_recipients, batch.answered_recipients], [1, 1])
  assert.equal((await api.get(`/batches/${batch.id}`)).status, 404)

  await writeFile(file, [...lines, 'c3;Bad;555'].join('\n'))
  const refused = await runOutdial(installation.env, 'batch', 'run', file, ...options)
  assert.equal(refused.status, 1)
  assert.equal(refused.stdout, '')
  assert.match(refused.stderr, /^row 4, phone_number: .*\(invalid_e164\)\n$/)
})
