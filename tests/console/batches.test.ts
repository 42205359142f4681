import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { sql } from '../../src/database/database.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { createOrganizationFixture, minimalAgentFile } from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let agentId: string
let operator: Browser
let viewer: Browser
let admin: Browser

before(async () => {
  app = await startComposedConsole()
  const fixture = await createOrganizationFixture(app.db)
  organizationId = fixture.organizationId
  agentId = fixture.agentId
  operator = (await app.signInAs(organizationId, 'operator', 'operator@batches.test')).browser
  viewer = (await app.signInAs(organizationId, 'viewer', 'viewer@batches.test')).browser
  admin = (await app.signInAs(organizationId, 'admin', 'admin@batches.test')).browser
})
after(() => app.stop())

const recipients = (...numbers: string[]) =>
  numbers.map((phone_number) => ({ external_id: phone_number, name: 'Ada', phone_number }))

const create = (members: object, browser = operator) =>
  browser.send('POST', '/console/batches', { name: 'Friday', agent_id: agentId, ...members })

const newestEntry = async (): Promise<Record<string, unknown>> => {
  const { body } = await admin.send('GET', '/console/audit?limit=1')
  const [entry] = body['data'] as Record<string, unknown>[]
  return entry ?? assert.fail()
}

test('an operator drafts a batch, starts, pauses, resumes and cancels it; each change is noted', async () => {
  const made = await create({ recipients: recipients('+12025550110', '+12025550111') })
  assert.deepEqual([made.status, made.body['status']], [201, 'draft'], JSON.stringify(made.body))
  const id = String(made.body['id'])
  assert.deepEqual((await newestEntry())['after'], { agent_id: agentId, recipients: 2 })
  const forecast = await viewer.send('GET', `/console/batches/${id}/forecast`)
  assert.equal(forecast.status, 200, JSON.stringify(forecast.body))
  assert.equal(forecast.body['waiting'], 2)
  assert.equal((forecast.body['recipients'] as unknown[]).length, 2)
  assert.equal((await viewer.send('GET', '/console/batches/nobody/forecast')).status, 404)
  const states: unknown[] = []
  for (const verb of ['start', 'pause', 'start', 'cancel']) {
    states.push((await operator.send('POST', `/console/batches/${id}/${verb}`, {})).body['status'])
    const entry = await newestEntry()
    assert.deepEqual([entry['action'], entry['target']], [`batch.${verb}`, { type: 'batch', id }])
  }
  assert.deepEqual(states, ['queued', 'paused', 'queued', 'cancelled'])
  const restarted = await operator.send('POST', `/console/batches/${id}/start`, {})
  assert.deepEqual([restarted.status, restarted.code], [409, 'resource_state_conflict'])
  const shown = await viewer.send('GET', `/console/batches/${id}`)
  assert.equal(shown.body['agent_name'], minimalAgentFile.name)
})

test('the rules of the API hold: a bad body leaves nothing behind', async () => {
  const [first] = recipients('+12025550120')
  const refused: [object, number, string][] = [
    [{}, 400, 'validation_error'],
    [{ recipients: [first, first] }, 400, 'validation_error'],
    [{ recipients: recipients('+19005551234') }, 400, 'unsupported_destination'],
    [{ contact_ids: ['nobody'] }, 404, 'resource_not_found'],
    [{ recipients: [first], agent_id: 'nobody' }, 404, 'resource_not_found'],
    [
      {
        recipients: [first],
        calling_window: {
          time_zone: 'America/New_York',
          weekdays: ['monday'],
          start_time: '22:00',
          end_time: '23:00',
        },
      },
      400,
      'validation_error',
    ],
  ]
  const before = await operator.send('GET', '/console/batches')
  for (const [members, status, code] of refused) {
    const answer = await create(members)
    assert.deepEqual([answer.status, answer.code], [status, code], JSON.stringify(answer.body))
  }
  assert.deepEqual((await operator.send('GET', '/console/batches')).body, before.body)
  assert.equal((await create({ recipients: [first] }, viewer)).status, 403)
})

test('failed and unreached recipients become a new draft', async () => {
  const made = await create({
    recipients: recipients('+12025550130', '+12025550131', '+12025550132'),
  })
  const id = String(made.body['id'])
  const none = await operator.send('POST', `/console/batches/${id}/retry`, { ends: ['failed'] })
  assert.deepEqual([none.status, none.code], [409, 'resource_state_conflict'])
  const { body } = await operator.send('GET', `/console/batches/${id}/recipients`)
  const [failed, busy] = body['data'] as { call_id: string; contact_id: string }[]
  const end = sql(
    'test.end',
    `update calls set status = $2, answer_status = $3, ended_at = now() where id = $1`,
  )
  await app.db.run(end, [failed?.call_id, 'failed', 'unknown'])
  await app.db.run(end, [busy?.call_id, 'completed', 'busy'])
  const again = async (ends: string[]) => {
    const draft = await operator.send('POST', `/console/batches/${id}/retry`, { ends })
    assert.equal(draft.status, 201, JSON.stringify(draft.body))
    assert.equal(draft.body['name'], 'Friday (again)')
    const path = `/console/batches/${String(draft.body['id'])}/recipients`
    const shown = (await operator.send('GET', path)).body['data'] as { contact_id: string }[]
    return shown.map((each) => each.contact_id)
  }
  assert.deepEqual(await again(['failed']), [failed?.contact_id])
  assert.deepEqual(await again(['failed', 'busy']), [failed?.contact_id, busy?.contact_id])
  assert.deepEqual((await newestEntry())['after'], {
    agent_id: agentId,
    recipients: 2,
    retry_of: id,
    ends: ['failed', 'busy'],
  })
  const twice = await operator.send('POST', `/console/batches/${id}/retry`, { ends: [] })
  assert.equal(twice.status, 400)
  assert.equal(
    (await viewer.send('POST', `/console/batches/${id}/retry`, { ends: ['busy'] })).status,
    403,
  )
})

test('a window is previewed in the zone of the callees', async () => {
  const made = await create({ recipients: recipients('+12135550140', '+12025550141') })
  const path = `/console/batches/${String(made.body['id'])}/recipients`
  const people = (await operator.send('GET', path)).body['data'] as { contact_id: string }[]
  const answer = await operator.send('POST', '/console/batch-windows/preview', {
    contact_ids: people.map((each) => each.contact_id),
    calling_window: {
      time_zone: 'America/New_York',
      weekdays: ['monday'],
      start_time: '07:00',
      end_time: '11:30',
    },
  })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const zones = answer.body['zones'] as {
    time_zones: string[]
    openings: { start: string; end: string }[]
  }[]
  const lengths = Object.fromEntries(
    zones.map(({ time_zones: names, openings }) => [
      names.join(),
      Math.max(...openings.map(({ start, end }) => Date.parse(end) - Date.parse(start))),
    ]),
  )
  const hourMs = 3_600_000
  // Eight o'clock in the callee's zone to half past eleven in New York; on a Monday the present day may be shorter.
  assert.deepEqual(Object.keys(lengths).toSorted(), ['America/Los_Angeles', 'America/New_York'])
  assert.ok((lengths['America/New_York'] ?? 0) <= 3.5 * hourMs)
  assert.ok((lengths['America/Los_Angeles'] ?? 0) <= 0.5 * hourMs)
})

test('a viewer reads recipients without their number and name', async () => {
  const made = await create({ recipients: recipients('+12025550150') })
  const path = `/console/batches/${String(made.body['id'])}/recipients`
  const text = JSON.stringify((await viewer.send('GET', path)).body)
  assert.ok(!text.includes('+12025550150') && !text.includes('Ada'), text)
})

test('a recipient of a draft is no call yet, for no operation', async () => {
  const made = await create({ recipients: recipients('+12025550190') })
  const statement = sql(
    'batches.test.recipient',
    'select id from calls where organization_id = $1 and batch_id = $2',
  )
  const row = await app.db.row<{ id: string }>(statement, [organizationId, made.body['id']])
  const path = `/console/calls/${row?.id}`
  for (const [method, rest] of [
    ['GET', ''],
    ['GET', '/recording'],
    ['POST', '/cancel'],
    ['POST', '/again'],
    ['POST', '/reprocess'],
    ['DELETE', '/recording'],
  ] as const) {
    const body = method === 'POST' ? {} : undefined
    const answer = await admin.send(method, path + rest, body)
    assert.equal(answer.status, 404, `${method} ${rest}: ${JSON.stringify(answer.body)}`)
  }
})
