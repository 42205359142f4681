// Runs beside others: it waits for most of its 14 s.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { terminalStates, type ApiClient } from '../support/api-client.ts'
import {
  askOutdial,
  createInstallation,
  runOutdial,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'

/** Automations as an administrator and an integration use them, against the sandbox carrier. */

let installation: Awaited<ReturnType<typeof createInstallation>>
let outdial: OutdialProcess
let api: ApiClient
let org: string
let agent: string

before(async () => {
  installation = await createInstallation()
  outdial = await startOutdial(installation.env)
  ;({ org, agent, api } = await openSandboxTenant(outdial))
})

after(async () => {
  assert.equal(await outdial.stop(), 0)
  installation.remove()
})

const fileOf = (name: string, definition: unknown): string => {
  const path = join(installation.data, `${name}.json`)
  writeFileSync(path, JSON.stringify({ name, definition }))
  return path
}

/** Calls the busy number twice, a second apart, then prints its branch. */
const definition = (type: 'call' | 'jump' = 'call') => ({
  entry: 'ring',
  steps: {
    ring: {
      type,
      agent_id: agent,
      next: 'route',
      retry: { max_attempts: 2, delays: ['PT1S'], on: ['busy'] },
    },
    route: {
      type: 'branch',
      cases: [
        { when: { answer_status: ['answered'] }, next: 'done' },
        { when: { answer_status: ['busy'] }, next: 'rest' },
      ],
      otherwise: 'given_up',
    },
    rest: { type: 'wait', for: 'PT1S', next: 'given_up' },
    given_up: { type: 'end', result: 'failed', failure_code: 'retries_exhausted' },
    done: { type: 'end', result: 'completed' },
  },
})

const sleeping = {
  entry: 'rest',
  steps: {
    rest: { type: 'wait', for: 'P1D', next: 'done' },
    done: { type: 'end', result: 'completed' },
  },
}

const publish = async (name: string, does: unknown = definition()): Promise<string> =>
  (
    await askOutdial<{ id: string }>(
      installation.env,
      'automation',
      'publish',
      '--org',
      org,
      '--file',
      fileOf(name, does),
    )
  ).id

const contactOf = async (number: string): Promise<string> => {
  const { body } = await api.post('/contacts', {
    external_id: number,
    name: 'Ada Lovelace',
    phone_number: number,
  })
  return String(body['id'])
}

const listOf = <Item>({ body }: { body: object }): Item[] => (body as { data: Item[] }).data

const untilOver = (runId: string) =>
  until(
    `run ${runId} to end`,
    async () => {
      const { body } = await api.get(`/automation-runs/${runId}`)
      return terminalStates.includes(String(body['status'])) ? body : undefined
    },
    { timeoutMs: 120_000 },
  )

test('a run calls, tries again, branches and waits, and each of its calls can be read', async () => {
  const [automationId, contactId] = [await publish('Busy'), await contactOf('+12025550101')]
  const body = { automation_id: automationId, contact_id: contactId }
  const made = await api.post('/automation-runs', body, 'run-busy')
  assert.equal(made.status, 202)
  assert.equal(made.headers.get('location'), `/automation-runs/${String(made.body['id'])}`)
  const replay = await api.post('/automation-runs', { ...body, input: {} }, 'run-busy')
  assert.equal(replay.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(replay.body, made.body)
  const second = await api.post('/automation-runs', body)
  assert.equal(second.status, 409)
  assert.deepEqual(second.body['error']?.['details'], { existing_run_id: made.body['id'] })

  const runId = String(made.body['id'])
  const run = await untilOver(runId)
  assert.deepEqual([run['status'], run['failure_code']], ['failed', 'retries_exhausted'])
  const calls = await api.get(`/calls?automation_run_id=${runId}`)
  const data = listOf<{ status: string; answer_status: string }>(calls)
  assert.deepEqual(
    data.map((call) => [call.status, call.answer_status]),
    [
      ['completed', 'busy'],
      ['completed', 'busy'],
    ],
  )
  const explained = await askOutdial<{ moves: { move: string }[] }>(
    installation.env,
    'automation',
    'explain',
    runId,
    '--org',
    org,
  )
  assert.deepEqual(
    explained.moves.map(({ move }) => move),
    ['start', 'call', 'retry_delay', 'call', 'move', 'move', 'wait_step', 'move', 'fail'],
  )
})

test('an answered call leads a run of the command line to its end, hidden from GET /calls', async () => {
  const [automationId, contactId] = [await publish('Answered'), await contactOf('+12025550107')]
  const run = await askOutdial<{ id: string; status: string }>(
    installation.env,
    'automation',
    'run',
    automationId,
    '--contact',
    contactId,
    '--org',
    org,
  )
  assert.equal(run.status, 'queued')
  assert.equal((await untilOver(run.id))['status'], 'completed')
  assert.deepEqual((await api.get(`/calls?automation_run_id=${run.id}`)).body['data'], [])
})

test('a cancelled run lets its live call finish and starts nothing after it', async () => {
  const [automationId, contactId] = [await publish('Cancelled'), await contactOf('+12025550102')]
  const { body } = await api.post('/automation-runs', {
    automation_id: automationId,
    contact_id: contactId,
  })
  const runId = String(body['id'])
  const callPath = `/calls?automation_run_id=${runId}`
  const statuses = async (): Promise<string[]> =>
    listOf<{ status: string }>(await api.get(callPath)).map(({ status }) => status)
  await until('the call to ring', async () => (await statuses()).includes('dialing') || undefined)
  const asked = await api.post(`/automation-runs/${runId}/cancel`, {})
  assert.deepEqual([asked.status, asked.body['status']], [200, 'running'])
  assert.deepEqual(await statuses(), ['dialing'])
  const [call] = listOf<{ id: string }>(await api.get(callPath))
  await api.post(`/calls/${call?.id}/cancel`, {})
  assert.equal((await untilOver(runId))['status'], 'cancelled')
  assert.deepEqual(await statuses(), ['cancelled'])
})

test('pause, resume and archive take effect on the running program', async () => {
  const [automationId, contactId] = [
    await publish('Paused', sleeping),
    await contactOf('+12025550101'),
  ]
  const setTo = async (verb: string): Promise<string> =>
    (await askOutdial<{ status: string }>(installation.env, 'automation', verb, automationId))
      .status
  assert.equal(await setTo('pause'), 'paused')
  const body = { automation_id: automationId, contact_id: contactId }
  assert.equal((await api.post('/automation-runs', body)).status, 409)
  assert.equal(await setTo('resume'), 'active')
  const made = await api.post('/automation-runs', body)
  assert.equal(made.status, 202)
  assert.equal(await setTo('archive'), 'archived')
  const run = await untilOver(String(made.body['id']))
  assert.deepEqual([run['status'], run['failure_code']], ['failed', 'automation_unavailable'])
})

test('a refused file ends with 1 and a path and a sentence for each problem', async () => {
  const bad = definition('jump')
  const path = fileOf('bad', {
    ...bad,
    steps: { ...bad.steps, rest: { type: 'wait', for: 'soon', next: 'x' } },
  })
  for (const command of ['publish', 'validate']) {
    const ended = await runOutdial(
      installation.env,
      'automation',
      command,
      '--org',
      org,
      '--file',
      path,
    )
    assert.equal(ended.status, 1)
    assert.equal(ended.stdout, '')
    assert.match(ended.stderr, /^definition\.steps\.ring\.type: It must be one of/m)
    assert.match(ended.stderr, /^definition\.steps\.rest\.for: It must be an ISO 8601 duration/m)
  }
})

const root = join(import.meta.dirname, '../..')
const example = join(root, 'docs/examples/appointment-follow-up.json')
const simulateExample = [
  'automation',
  'simulate',
  '--file',
  example,
  '--contact',
  join(root, 'docs/examples/contact.json'),
  '--answers',
  'no_answer,busy,voicemail,answered:achieved',
  '--at',
  '2026-10-31T14:20:00Z',
]

test('the simulator prints the timetable that the documentation shows', async () => {
  const { status, stdout } = await runOutdial(installation.env, ...simulateExample)
  assert.equal(status, 0)
  const documented = readFileSync(join(root, 'docs/automations.md'), 'utf8')
  assert.ok(documented.includes(stdout.trimEnd()), 'docs/automations.md shows another timetable')
})

test('the simulator prints JSON, and refuses unreadable input with 2', async () => {
  const timetable = await askOutdial<{ status: string; calls: number; entries: object[] }>(
    installation.env,
    ...simulateExample,
  )
  assert.deepEqual([timetable.status, timetable.calls], ['completed', 4])
  const wrong = simulateExample.map((word) => (word.startsWith('no_answer') ? 'shrugged' : word))
  assert.equal((await runOutdial(installation.env, ...wrong)).status, 2)
  const lost = simulateExample.map((word) => (word.endsWith('contact.json') ? 'nobody' : word))
  assert.equal((await runOutdial(installation.env, ...lost)).status, 2)
})

test('the example of the documentation can be published, is shown, and is drawn as documented', async () => {
  const file = JSON.parse(readFileSync(example, 'utf8').replaceAll('AGENT_ID', agent))
  const made = await askOutdial<{ id: string; status: string }>(
    installation.env,
    'automation',
    'publish',
    '--org',
    org,
    '--file',
    fileOf(file.name, file.definition),
  )
  assert.equal(made.status, 'active')
  const shown = await askOutdial<{ version: number; drawing: string; definition: object }>(
    installation.env,
    'automation',
    'show',
    made.id,
  )
  assert.equal(shown.version, 1)
  assert.deepEqual(shown.definition, file.definition)
  const documented = readFileSync(join(root, 'docs/automations.md'), 'utf8')
  assert.ok(documented.includes(shown.drawing), 'docs/automations.md shows another drawing')
})
