import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import type { Role } from '../../src/contract/roles.ts'
import { sql } from '../../src/database/database.ts'
import {
  startComposedConsole,
  type Browser,
  type ConsoleAnswer,
} from '../support/composed-console.ts'
import { contactBody, createOrganizationFixture } from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let agentId: string
let contactId: string
const browsers = new Map<Role, Browser>()

const as = (role: Role): Browser => browsers.get(role) ?? assert.fail(role)

before(async () => {
  app = await startComposedConsole()
  const fixture = await createOrganizationFixture(app.db)
  organizationId = fixture.organizationId
  agentId = fixture.agentId
  for (const role of ['owner', 'admin', 'operator', 'viewer'] as const)
    browsers.set(
      role,
      (await app.signInAs(organizationId, role, `${role}@automations.test`)).browser,
    )
  const made = await as('operator').send('POST', '/console/contacts', person('+12025550142'))
  contactId = String(made.body['id'])
})
after(() => app.stop())

const person = (phoneNumber: string) =>
  contactBody({ external_id: phoneNumber, name: 'Grace Hopper', phone_number: phoneNumber })

/** Two attempts half an hour apart, then an end by what came of them. */
const definition = () => ({
  entry: 'first_call',
  steps: {
    first_call: {
      type: 'call',
      agent_id: agentId,
      next: 'route',
      retry: { max_attempts: 2, delays: ['PT30M'], on: ['no_answer'] },
    },
    route: {
      type: 'branch',
      cases: [{ when: { outcome: ['achieved'], 'contact.name': ['Grace Hopper'] }, next: 'done' }],
      otherwise: 'summary',
    },
    // A step may be named as a member that is masked.
    summary: { type: 'end', result: 'failed', failure_code: 'retries_exhausted' },
    done: { type: 'end', result: 'completed' },
  },
})

const file = (name = 'Follow-up') => ({ name, definition: definition() })

const create = async (query = ''): Promise<string> => {
  const made = await as('admin').send('POST', `/console/automations${query}`, file())
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return String(made.body['id'])
}

const rowsOf = ({ body }: ConsoleAnswer): Record<string, unknown>[] =>
  body['data'] as Record<string, unknown>[]

const auditOf = async (targetId: string): Promise<Record<string, unknown>[]> =>
  rowsOf(await as('admin').send('GET', `/console/audit?target_id=${targetId}`))

test('every problem of a definition is told with its path, and nothing is stored', async () => {
  const count = async () => rowsOf(await as('admin').send('GET', '/console/automations')).length
  const before = await count()
  const broken = definition()
  broken.steps.first_call.next = 'nowhere'
  broken.steps.first_call.agent_id = '019c6b2e-7a40-7c31-9d0f-2f6a51b7aa01'
  const checked = await as('operator').send('POST', '/console/automations/check', {
    name: '',
    definition: broken,
  })
  assert.equal(checked.status, 200)
  const problems = checked.body['problems'] as { path: string; message: string }[]
  const paths = problems.map(({ path }) => path)
  for (const path of [
    'name',
    'definition.steps.first_call.next',
    'definition.steps.first_call.agent_id',
    'definition.steps.route',
  ])
    assert.ok(paths.includes(path), `${path} of ${paths.join(', ')}`)
  const fine = await as('operator').send('POST', '/console/automations/check', file())
  assert.deepEqual(fine.body, { problems: [], truncated: false })
  assert.equal((await as('viewer').send('POST', '/console/automations/check', file())).status, 403)
  assert.equal(await count(), before)
})

test('more problems than are told are counted as left out', async () => {
  const steps = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [`step${at}`, { type: 'nothing' }]),
  )
  const { body } = await as('admin').send('POST', '/console/automations/check', {
    name: 'Wide',
    definition: { entry: 'step0', steps },
  })
  assert.equal((body['problems'] as unknown[]).length, 100)
  assert.equal(body['truncated'], true)
})

test('a simulation tells each move with its instant, under the policy of the organization', async () => {
  const simulated = await as('operator').send('POST', '/console/automations/simulate', {
    definition: definition(),
    contact_id: contactId,
    answers: ['no_answer', 'answered:achieved'],
    starts_at: '2026-07-15T16:00:00Z',
  })
  assert.equal(simulated.status, 200, JSON.stringify(simulated.body))
  const { status, calls, entries } = simulated.body as {
    status: string
    calls: number
    entries: { step: string | null; move: string; to?: string; at: string }[]
  }
  assert.deepEqual([status, calls], ['completed', 2])
  assert.deepEqual(
    entries.map(({ step, move }) => `${step} ${move}`),
    [
      'first_call start',
      'first_call call',
      'first_call retry_delay',
      'first_call call',
      'first_call move',
      'route move',
      'done complete',
    ],
  )
  assert.equal(entries[3]?.at, '2026-07-15T16:30:45.000Z')
  const other = await as('operator').send('POST', '/console/automations/simulate', {
    definition: definition(),
    phone_number: '+12025550199',
    answers: ['answered:achieved'],
  })
  // It is someone else: the branch by name leads elsewhere.
  assert.equal(other.body['failure_code'], 'retries_exhausted')
})

test('a simulation is refused for what it cannot read, and for more moves than are shown', async () => {
  const simulate = (body: object) =>
    as('operator').send('POST', '/console/automations/simulate', {
      definition: definition(),
      answers: ['answered'],
      ...body,
    })
  const refused = [
    await simulate({ answers: ['hung_up'] }),
    await simulate({ answers: [] }),
    await simulate({ definition: { entry: 'x', steps: {} } }),
    await simulate({ phone_number: '12' }),
    await simulate({ starts_at: 'tomorrow' }),
  ]
  assert.deepEqual(
    refused.map(({ status, code }) => [status, code]),
    refused.map(() => [400, 'validation_error']),
  )
  const steps = {
    again: {
      type: 'call',
      agent_id: agentId,
      next: 'pause',
      retry: { max_attempts: 100, delays: ['PT0S'], on: ['busy'] },
    },
    pause: { type: 'wait', for: 'PT1S', next: 'again' },
  }
  const endless = await simulate({ definition: { entry: 'again', steps }, answers: ['busy'] })
  assert.equal(endless.status, 400)
  assert.match(JSON.stringify(endless.body), /too many attempts/)
})

test('versions are kept and shown, and a publication over another one is refused', async () => {
  const id = await create()
  const path = `/console/automations/${id}`
  const changed = file('Follow-up, slower')
  changed.definition.steps.first_call.retry.delays = ['PT2H']
  const second = await as('admin').send('POST', `${path}/versions?base_version=1`, changed)
  assert.equal(second.status, 201, JSON.stringify(second.body))
  const late = await as('owner').send('POST', `${path}/versions?base_version=1`, file())
  assert.equal(late.status, 409)
  assert.match(JSON.stringify(late.body), /Version 2 was published meanwhile/)
  const shown = await as('viewer').send('GET', path)
  assert.deepEqual(
    [shown.body['name'], shown.body['version'], shown.body['published_version']],
    ['Follow-up, slower', 2, 2],
  )
  const first = await as('admin').send('GET', `${path}?version=1`)
  assert.deepEqual(first.body['definition'], definition())
  assert.equal((await as('admin').send('GET', `${path}?version=3`)).status, 404)
  assert.equal((await as('admin').send('GET', `${path}?version=0`)).status, 400)
  const versions = rowsOf(await as('viewer').send('GET', `${path}/versions`))
  assert.deepEqual(
    versions.map(({ version }) => version),
    [2, 1],
  )
  const invalid = await as('admin').send('POST', `${path}/versions`, { name: 'x', definition: {} })
  assert.equal(invalid.status, 400)
  const [entry, ...older] = await auditOf(id)
  assert.deepEqual(
    [entry?.['action'], entry?.['before'], entry?.['after'], older.length],
    [
      'automation.publish',
      { name: 'Follow-up', version: 1 },
      { name: 'Follow-up, slower', version: 2 },
      1,
    ],
  )
})

test('a draft takes no run before it is active; an archived one is never active again', async () => {
  const id = await create('?status=draft')
  const path = `/console/automations/${id}`
  const run = () =>
    as('operator').send('POST', '/console/runs', { automation_id: id, contact_id: contactId })
  assert.deepEqual((await run()).code, 'resource_state_conflict')
  const become = (status: string) => as('admin').send('PATCH', path, { status })
  assert.equal((await become('active')).body['status'], 'active')
  assert.equal((await become('active')).body['status'], 'active')
  assert.equal((await run()).status, 202)
  assert.equal((await run()).code, 'duplicate_active_run')
  assert.equal((await as('operator').send('PATCH', path, { status: 'paused' })).status, 403)
  assert.equal((await become('archived')).body['status'], 'archived')
  assert.equal((await become('active')).code, 'resource_state_conflict')
  assert.equal((await as('admin').send('POST', `${path}/versions`, file())).status, 409)
  assert.deepEqual(
    (await auditOf(id)).map(({ before, after }) => [before, after]),
    [
      [{ status: 'active' }, { status: 'archived' }],
      [{ status: 'draft' }, { status: 'active' }],
      [null, { name: 'Follow-up', status: 'draft', version: 1 }],
    ],
  )
})

test('a run shows where it stands, what comes next, why it waits, and its history', async () => {
  const id = await create()
  const made = await as('operator').send('POST', '/console/runs', {
    automation_id: id,
    contact_id: contactId,
  })
  const runId = String(made.body['id'])
  const path = `/console/runs/${runId}`
  const fresh = await as('operator').send('GET', path)
  assert.equal(fresh.status, 200, JSON.stringify(fresh.body))
  assert.deepEqual(fresh.body['next'], {
    message: 'It begins at "first_call".',
    steps: ['first_call'],
  })
  assert.deepEqual(
    [fresh.body['contact_name'], fresh.body['phone_number'], fresh.body['automation_version']],
    ['Grace Hopper', '+12025550142', 1],
  )
  // As the runner leaves it between two attempts.
  await app.db.run(
    sql(
      'test.wait',
      `update automation_runs
          set status = 'waiting', phase = 'retry', step = 'first_call', attempt = 1, sequence = 1,
              wait_reason = 'retry_delay', due_at = '2099-01-01T08:30:00Z', wake_at = '2099-01-01T08:30:00Z'
        where id = $1`,
    ),
    [runId],
  )
  await app.db.run(
    sql(
      'test.move',
      `insert into automation_run_moves (organization_id, run_id, sequence, step, move, attempt, reason)
       values ($1, $2, 1, 'first_call', 'call', 1, 'Attempt 1 of 2.')`,
    ),
    [organizationId, runId],
  )
  const waiting = await as('operator').send('GET', path)
  assert.deepEqual(waiting.body['next'], {
    message: 'Attempt 2 of 2 at "first_call".',
    at: '2099-01-01T08:30:00.000Z',
    steps: ['first_call'],
  })
  assert.partialDeepStrictEqual(waiting.body['reasons'], [
    { code: 'not_before', until: '2099-01-01T08:30:00.000Z' },
  ])
  assert.partialDeepStrictEqual(waiting.body['moves'], [
    { sequence: 1, step: 'first_call', move: 'call', reason: 'Attempt 1 of 2.' },
  ])
  const counts = await as('viewer').send('GET', `/console/automations/${id}/steps`)
  assert.deepEqual(rowsOf(counts), [{ step: 'first_call', status: 'waiting', runs: 1 }])

  assert.equal((await as('viewer').send('POST', `${path}/cancel`, {})).status, 403)
  const cancelled = await as('operator').send('POST', `${path}/cancel`, {})
  assert.equal(cancelled.body['status'], 'cancelled')
  await as('operator').send('POST', `${path}/cancel`, {})
  const ended = await as('operator').send('GET', path)
  assert.deepEqual([ended.body['next'], ended.body['reasons']], [undefined, []])
  assert.deepEqual(
    (await auditOf(runId)).map(({ action, after }) => [action, after]),
    [
      ['run.cancel', { status: 'cancelled' }],
      ['run.start', { automation_id: id, contact_id: contactId }],
    ],
  )
  assert.deepEqual(rowsOf(await as('viewer').send('GET', `/console/automations/${id}/steps`)), [])
})

test('a viewer reads runs and definitions without the people in them', async () => {
  const id = await create()
  const made = await as('operator').send('POST', '/console/runs', {
    automation_id: id,
    contact_id: contactId,
  })
  const paths = [
    `/console/runs?automation_id=${id}`,
    `/console/runs/${String(made.body['id'])}`,
    `/console/automations/${id}`,
  ]
  for (const path of paths) {
    const seen = JSON.stringify((await as('viewer').send('GET', path)).body)
    const shown = JSON.stringify((await as('operator').send('GET', path)).body)
    for (const secret of ['Grace', '+12025550142']) assert.ok(!seen.includes(secret), path)
    assert.match(shown, /Grace Hopper/)
    assert.match(seen, /Follow-up/)
  }
  const { body } = await as('viewer').send('GET', `/console/automations/${id}`)
  assert.deepEqual(
    (body['definition'] as { steps: object }).steps,
    Object.assign(definition().steps, {
      route: {
        type: 'branch',
        cases: [{ when: { outcome: ['achieved'], 'contact.name': ['•••'] }, next: 'done' }],
        otherwise: 'summary',
      },
    }),
  )
})

test('runs are found by state, Automation and contact, and an unknown id finds none', async () => {
  const id = await create()
  await as('operator').send('POST', '/console/runs', { automation_id: id, contact_id: contactId })
  const listed = async (query: string) =>
    rowsOf(await as('viewer').send('GET', `/console/runs?${query}`)).length
  assert.equal(await listed(`automation_id=${id}&status=queued`), 1)
  assert.equal(await listed(`automation_id=${id}&contact_id=${contactId}`), 1)
  assert.equal(await listed(`automation_id=${id}&status=failed`), 0)
  assert.equal(await listed('automation_id=none'), 0)
  assert.equal((await as('viewer').send('GET', '/console/runs?status=odd')).status, 400)
})
