import { sandboxCallees } from '../../dashboard/src/pages/sandbox-callees.ts'
import { personas } from '../../src/telephony/sandbox/personas.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import type { Role } from '../../src/contract/roles.ts'
import { findAgentDefinition, findAgent } from '../../src/domains/agents/agent-store.ts'
import { findDraft } from '../../src/domains/agents/draft-store.ts'
import { findAgentOfCall } from '../../src/domains/calls/agent-of-call.ts'
import {
  startComposedConsole,
  type Browser,
  type ConsoleAnswer,
} from '../support/composed-console.ts'
import { contactBody, minimalAgentFile } from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
const browsers = new Map<Role, Browser>()

before(async () => {
  app = await startComposedConsole()
  organizationId = (await app.createOrganization('Agents')).id
  for (const role of ['admin', 'operator', 'viewer'] as const) {
    const { browser } = await app.signInAs(organizationId, role, `${role}@agents.test`)
    browsers.set(role, browser)
  }
})
after(() => app.stop())

const send = (method: string, path: string, body?: object, role: Role = 'admin') => {
  const browser = browsers.get(role)
  assert.ok(browser)
  return browser.send(method, `/console/agents${path}`, body)
}

const ok = (answer: ConsoleAnswer, status = 200): Record<string, unknown> => {
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  return answer.body
}

const file = (members: object = {}) => ({ ...minimalAgentFile, ...members })

const publishNew = async (members: object = {}): Promise<string> =>
  String(ok(await send('POST', '', file(members)), 201)['id'])

const definitionOf = async (id: string, version: number) =>
  findAgentDefinition(app.db, organizationId, id, version)

const auditOf = async (id: string): Promise<Record<string, unknown>[]> => {
  const answer = await browsers.get('admin')?.send('GET', `/console/audit?target_id=${id}`)
  return answer?.body['data'] as Record<string, unknown>[]
}

const actionsOf = async (id: string) => (await auditOf(id)).map(({ action }) => action)

const rowsOf = (answer: ConsoleAnswer) => ok(answer)['data'] as Record<string, unknown>[]

test('saving a draft changes nothing that calls use; publishing does', async () => {
  const id = await publishNew()
  const draft = { file: file({ greeting: 'Draft.', name: 'Renamed' }), revision: 0, version: 1 }
  const saved = ok(await send('PATCH', `/${id}/draft`, draft))
  assert.deepEqual([saved['revision'], saved['based_on'], saved['problems']], [1, 1, []])
  const row = await findAgent(app.db, organizationId, id)
  assert.deepEqual([row?.published_version, row?.name], [1, 'Reminder'])
  assert.equal(row?.updated_at.getTime(), row?.created_at.getTime())
  assert.equal((await definitionOf(id, 1))?.greeting, minimalAgentFile.greeting)
  const shown = ok(await send('GET', `/${id}`))
  assert.equal((shown['definition'] as { greeting: string }).greeting, minimalAgentFile.greeting)
  assert.deepEqual((shown['draft'] as { file: object }).file, draft.file)

  const path = `/${id}/versions?base_version=1&draft_revision=1`
  const published = ok(await send('POST', path, draft.file), 201)
  assert.deepEqual([published['version'], published['name']], [2, 'Renamed'])
  assert.equal((await definitionOf(id, 2))?.greeting, 'Draft.')
  assert.equal((await definitionOf(id, 1))?.greeting, minimalAgentFile.greeting)
  assert.ok(!('draft' in ok(await send('GET', `/${id}`))))
  const [entry] = await auditOf(id)
  assert.deepEqual(entry?.['before'], { name: 'Reminder', version: 1 })
  assert.deepEqual(entry?.['after'], {
    name: 'Renamed',
    version: 2,
    changed: ['name', 'greeting'],
  })
  assert.deepEqual(await actionsOf(id), ['agent.publish', 'agent.save_draft', 'agent.create'])
})

test('a new draft is no agent for calls until it is published', async () => {
  const made = ok(await send('POST', '/drafts', { name: ' Half ', language: 'no language' }), 201)
  const id = String(made['agent_id'])
  const paths = (made['problems'] as { path: string }[]).map(({ path }) => path)
  assert.deepEqual(paths.toSorted(), ['greeting', 'language', 'prompt', 'voicemail'])
  const idsOf = async (state: string) =>
    rowsOf(await send('GET', `?state=${state}`)).map((each) => each['id'])
  assert.ok((await idsOf('current')).includes(id))
  assert.ok(!(await idsOf('eligible')).includes(id))
  const browser = browsers.get('operator')
  const call = { agent_id: id, phone_number: '+12025550100' }
  assert.equal((await browser?.send('POST', '/console/calls', call))?.status, 409)
  const refused = await send('POST', `/${id}/versions`, { name: 'Half' })
  assert.equal(refused.status, 400)
  // The draft is all of it.
  assert.equal((await send('DELETE', `/${id}/draft?revision=1`)).status, 409)
  const next = { file: file({ name: 'Whole', language: 'de-de' }), revision: 1, version: 0 }
  assert.deepEqual(ok(await send('PATCH', `/${id}/draft`, next))['problems'], [])
  assert.equal(ok(await send('GET', `/${id}`))['name'], 'Whole')
  const path = `/${id}/versions?base_version=0&draft_revision=2`
  assert.equal(ok(await send('POST', path, next.file), 201)['version'], 1)
  assert.equal((await browser?.send('POST', '/console/calls', call))?.status, 202)
})

test('nothing is saved or published over what somebody else changed meanwhile', async () => {
  const id = await publishNew()
  const save = (revision: number, version = 1, greeting = 'Mine.') =>
    send('PATCH', `/${id}/draft`, { file: file({ greeting }), revision, version })
  ok(await save(0))
  assert.equal((await save(0, 1, 'Theirs.')).code, 'resource_state_conflict')
  ok(await save(1))
  assert.equal((await save(2, 7)).code, 'resource_state_conflict')
  const publish = (query: string) => send('POST', `/${id}/versions${query}`, file())
  assert.equal((await publish('?base_version=2')).code, 'resource_state_conflict')
  assert.equal((await publish('?draft_revision=1')).code, 'resource_state_conflict')
  assert.equal((await send('DELETE', `/${id}/draft?revision=1`)).code, 'resource_state_conflict')
  // A publication that names no draft leaves it to its author.
  ok(await publish(''), 201)
  const draft = await findDraft(app.db, { organizationId, agentId: id })
  assert.deepEqual([draft?.revision, draft?.based_on, draft?.file['greeting']], [2, 1, 'Mine.'])
  ok(await send('DELETE', `/${id}/draft?revision=2`))
  assert.equal(await findDraft(app.db, { organizationId, agentId: id }), undefined)
  assert.equal((await actionsOf(id))[0], 'agent.discard_draft')
})

test('of two who save the same revision at once, one is refused', async () => {
  const id = await publishNew()
  const body = (greeting: string) => ({ file: file({ greeting }), revision: 0, version: 1 })
  const answers = await Promise.all(
    ['A', 'B', 'C', 'D'].map((text) => send('PATCH', `/${id}/draft`, body(text))),
  )
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  assert.deepEqual(statuses, [200, 409, 409, 409])
})

test('a roll-back publishes an older definition as the next version', async () => {
  const id = await publishNew({ greeting: 'One.' })
  ok(await send('POST', `/${id}/versions`, file({ greeting: 'Two.' })), 201)
  const draft = { file: file({ greeting: 'Draft.' }), revision: 0, version: 2 }
  ok(await send('PATCH', `/${id}/draft`, draft))
  assert.equal((await send('POST', `/${id}/versions/2/restore`, {})).status, 409)
  assert.equal((await send('POST', `/${id}/versions/3/restore`, {})).status, 404)
  const stale = await send('POST', `/${id}/versions/1/restore?base_version=1`, {})
  assert.equal(stale.code, 'resource_state_conflict')
  const back = ok(await send('POST', `/${id}/versions/1/restore?base_version=2`, {}), 201)
  assert.equal(back['version'], 3)
  assert.deepEqual(await definitionOf(id, 3), await definitionOf(id, 1))
  const versions = rowsOf(await send('GET', `/${id}/versions`))
  assert.deepEqual(
    versions.map((each) => [each['version'], each['restored_version']]),
    [
      [3, 1],
      [2, undefined],
      [1, undefined],
    ],
  )
  const older = rowsOf(await send('GET', `/${id}/versions?before=2`))
  assert.deepEqual(
    older.map((each) => each['version']),
    [1],
  )
  assert.ok('draft' in ok(await send('GET', `/${id}`)))
  const [entry] = await auditOf(id)
  assert.equal(entry?.['action'], 'agent.roll_back')
  assert.deepEqual(entry['after'], { name: 'Reminder', version: 3, restored_version: 1 })
})

test('a call keeps the version it was placed with through publishing and rolling back', async () => {
  const id = await publishNew({ greeting: 'One.' })
  const browser = browsers.get('operator')
  const call = { agent_id: id, phone_number: '+12025550100' }
  const placed = await browser?.send('POST', '/console/calls', call)
  ok(await send('POST', `/${id}/versions`, file({ greeting: 'Two.' })), 201)
  ok(await send('POST', `/${id}/versions/1/restore`, {}), 201)
  const pinned = await findAgentOfCall(app.db, organizationId, String(placed?.body['id']))
  assert.equal(pinned?.greeting, 'One.')
})

const tool = (members: object = {}) => ({
  name: 'book',
  description: 'Books a table.',
  parameters: { type: 'object', properties: { headers: { type: 'string' } } },
  method: 'POST',
  url: 'https://user:hunter2@crm.test/book',
  headers: { Authorization: 'Bearer sesame' },
  ...members,
})

test('hidden values are kept where they go to the same server, and never shown', async () => {
  const id = await publishNew({ tools: [tool()] })
  const shown = ok(await send('GET', `/${id}`))
  assert.doesNotMatch(JSON.stringify(shown), /sesame|hunter2/)
  const seen = shown['definition'] as { tools: object[] }
  const other = tool({ name: 'first', url: 'https://other.test/', headers: { 'X-Key': 'own' } })
  const changed = { ...seen, prompt: 'Changed.', tools: [other, ...seen.tools] }
  const saved = ok(await send('PATCH', `/${id}/draft`, { file: changed, revision: 0, version: 1 }))
  assert.deepEqual(saved['problems'], [])
  const { draft } = ok(await send('GET', `/${id}`)) as { draft: { file: object } }
  assert.doesNotMatch(JSON.stringify(draft), /sesame|hunter2|"own"/)
  const path = `/${id}/versions?draft_revision=1`
  ok(await send('POST', path, draft.file), 201)
  const stored = await definitionOf(id, 2)
  assert.deepEqual(stored?.tools, [
    { ...other, timeout_ms: 10_000 },
    { ...tool(), timeout_ms: 10_000 },
  ])
  const audit = JSON.stringify(await auditOf(id))
  assert.doesNotMatch(audit, /sesame|hunter2|"own"/)
})

test('a hidden value does not follow its tool to another server', async () => {
  const id = await publishNew({ tools: [tool()] })
  for (const url of [
    'https://evil.test/book',
    'https://(hidden)@evil.test/book',
    'https://crm.test:444/book',
    'http://crm.test/book',
    'https://crm.test.evil.test/',
    undefined,
  ]) {
    const moved = file({ tools: [tool({ url, headers: { Authorization: '(hidden)' } })] })
    const check = ok(await send('POST', '/check', { file: moved, agent_id: id }))
    const paths = (check['problems'] as { path: string }[]).map((problem) => problem.path)
    assert.ok(paths.includes('tools[0].headers.Authorization'), url)
    const refused = await send('POST', `/${id}/versions`, moved)
    assert.equal(refused.status, 400, url)
    ok(await send('PATCH', `/${id}/draft`, { file: moved, revision: 0, version: 1 }))
    const draft = await findDraft(app.db, { organizationId, agentId: id })
    assert.doesNotMatch(JSON.stringify(draft?.file), /sesame/, url)
    ok(await send('DELETE', `/${id}/draft?revision=1`))
  }
  const fresh = await send('POST', '', file({ tools: [tool({ headers: { A: '(hidden)' } })] }))
  assert.equal(fresh.status, 400)
})

test('differences name what changed between any two versions and the draft', async () => {
  const id = await publishNew({ tools: [tool()], outcomes: [{ slug: 'won', description: 'Won.' }] })
  const second = file({
    greeting: 'Two.',
    tools: [
      { builtin: 'transfer_call', to: '+12025550123' },
      tool({ headers: { Authorization: 'Bearer other' } }),
    ],
  })
  ok(await send('POST', `/${id}/versions`, second), 201)
  const draft = { file: file({ voice: 'amber' }), revision: 0, version: 2 }
  ok(await send('PATCH', `/${id}/draft`, draft))
  const between = async (before: string, after: string, role?: Role) =>
    rowsOf(await send('GET', `/${id}/differences?before=${before}&after=${after}`, undefined, role))
  const found = await between('1', '2')
  assert.deepEqual(found.map((each) => String(each['path'])).toSorted(), [
    'greeting',
    'outcomes',
    'tools[book].headers.Authorization',
    'tools[transfer_call]',
  ])
  const byPath = new Map(found.map((each) => [each['path'], each]))
  assert.deepEqual(byPath.get('greeting'), {
    path: 'greeting',
    before: minimalAgentFile.greeting,
    after: 'Two.',
    is_hidden: false,
  })
  assert.equal(byPath.get('tools[book].headers.Authorization')?.['is_hidden'], true)
  assert.ok(!('after' in (byPath.get('outcomes') ?? {})))
  assert.doesNotMatch(JSON.stringify(found), /sesame|Bearer/)
  assert.match(JSON.stringify(found), /\+12025550123/)
  assert.doesNotMatch(JSON.stringify(await between('1', '2', 'viewer')), /\+12025550123/)
  assert.deepEqual(await between('2', '2'), [])
  assert.ok((await between('2', 'draft')).some((each) => each['path'] === 'voice'))
  for (const side of ['3', '99999999999', '0', 'x', '2147483648']) {
    const { status } = await send('GET', `/${id}/differences?before=1&after=${side}`)
    assert.ok([400, 404].includes(status), `${side}: ${status}`)
  }
  assert.equal((await send('GET', `/${id}/versions/2147483648`)).status, 404)
  assert.equal((await send('GET', `/${id}/versions/1.0`)).status, 404)
  assert.equal((await send('GET', '/no-uuid/versions')).status, 404)
})

test('a check names every problem at its place, and fills the texts for a contact', async () => {
  const browser = browsers.get('admin')
  const contact = contactBody({ name: 'Grace Hopper', phone_number: '+12025550142' })
  const made = await browser?.send('POST', '/console/contacts', contact)
  const contactId = String(made?.body['id'])
  const check = (body: object, role: Role = 'admin') => send('POST', '/check', body, role)
  const sample = ok(await check({ file: minimalAgentFile }))
  assert.deepEqual(sample['problems'], [])
  assert.deepEqual(sample['texts'], {
    greeting: 'Hello Ada Lovelace.',
    prompt: 'Remind them of the appointment.',
  })
  const chosen = { file: minimalAgentFile, contact_id: contactId }
  const greetingFor = async (role: Role) =>
    (ok(await check(chosen, role))['texts'] as { greeting: string }).greeting
  assert.equal(await greetingFor('operator'), 'Hello Grace Hopper.')
  assert.doesNotMatch(await greetingFor('viewer'), /Grace/)
  const unknown = { ...chosen, contact_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7aa01' }
  assert.equal((await check(unknown)).status, 404)

  const broken = ok(
    await check({ file: file({ prompt: '{{contact.nmae}}', voicemail: 'leave_message', x: 1 }) }),
  )
  const paths = (broken['problems'] as { path: string }[]).map(({ path }) => path)
  assert.deepEqual(paths.toSorted(), ['prompt', 'voicemail_message', 'x'])
  const emergency = file({ tools: [{ builtin: 'transfer_call', to: '911' }] })
  const judged = ok(await check({ file: emergency }))['problems'] as { path: string }[]
  assert.equal(judged[0]?.path, 'tools[0].to')
})

test('a file is checked as it is written: no JSON, repeated members, too deep', async () => {
  const check = async (source: string) => ok(await send('POST', '/check', { source }))
  const first = async (source: string) =>
    (await check(source))['problems'] as { path: string; message: string }[]
  assert.match((await first('{"name": '))[0]?.message ?? '', /^It is not JSON/)
  assert.match((await first('[]'))[0]?.message ?? '', /one JSON object/)
  assert.match((await first(`${'['.repeat(5000)}${']'.repeat(5000)}`))[0]?.message ?? '', /deeper/)
  const twice = await first('{"name": "A", "name": "B"}')
  assert.deepEqual(twice[0], { path: 'name', message: 'This member is given twice.' })
  const fine = await check(JSON.stringify(minimalAgentFile))
  assert.deepEqual([fine['problems'], fine['file']], [[], minimalAgentFile])
  assert.equal((await send('POST', '/check', {})).status, 400)
  assert.equal((await send('POST', '/check', { file: {}, source: '{}' })).status, 400)
})

test('a draft may have any faults but those of its name and its characters', async () => {
  for (const name of [undefined, '', '  ', 7, 'x'.repeat(201)]) {
    const refused = await send('POST', '/drafts', { name })
    assert.equal(refused.status, 400, String(name))
  }
  const nul = await send('POST', '/drafts', { name: 'A', tools: ['\u0000'] })
  assert.equal(nul.status, 400)
  const odd = { name: 'Odd', tools: { headers: 'secret' }, headers: ['secret'], __proto: 1 }
  const made = ok(await send('POST', '/drafts', odd), 201)
  const shown = ok(await send('GET', `/${String(made['agent_id'])}`))
  assert.doesNotMatch(JSON.stringify(shown['draft']), /secret/)
})

test('an archived agent is listed as such and takes no draft, version or roll-back', async () => {
  const id = await publishNew()
  ok(await send('POST', `/${id}/versions`, file({ greeting: 'Two.' })), 201)
  ok(await send('POST', `/${id}/archive`, {}))
  ok(await send('POST', `/${id}/archive`, {}))
  const actions = await actionsOf(id)
  assert.equal(actions.filter((action) => action === 'agent.archive').length, 1)
  const draft = { file: file(), revision: 0, version: 2 }
  assert.equal((await send('PATCH', `/${id}/draft`, draft)).status, 409)
  assert.equal((await send('POST', `/${id}/versions`, file())).status, 409)
  assert.equal((await send('POST', `/${id}/versions/1/restore`, {})).status, 409)
  const idsOf = async (query: string) => rowsOf(await send('GET', query)).map((each) => each['id'])
  assert.ok((await idsOf('?state=archived')).includes(id))
  assert.ok(!(await idsOf('')).includes(id))
  assert.ok(!(await idsOf('?state=current')).includes(id))
})

test('an operator may check and place a test call, and changes no agent', async () => {
  const id = await publishNew()
  const refusals: readonly [string, string, object?][] = [
    ['POST', '', file()],
    ['POST', '/drafts', file()],
    ['PATCH', `/${id}/draft`, { file: file(), revision: 0, version: 1 }],
    ['DELETE', `/${id}/draft?revision=1`],
    ['POST', `/${id}/versions`, file()],
    ['POST', `/${id}/versions/1/restore`, {}],
    ['POST', `/${id}/archive`, {}],
  ]
  for (const role of ['operator', 'viewer'] as const)
    for (const [method, path, body] of refusals) {
      const { status, code } = await send(method, path, body, role)
      assert.deepEqual([status, code], [403, 'insufficient_scope'], `${role} ${method} ${path}`)
    }
  const call = { agent_id: id, phone_number: '+12025550100' }
  const placed = async (role: Role) =>
    (await browsers.get(role)?.send('POST', '/console/calls', call))?.status
  assert.deepEqual([await placed('operator'), await placed('viewer')], [202, 403])
})

test('the callees that a test call offers are the personas of the sandbox', () => {
  assert.deepEqual(
    sandboxCallees.map(({ number, shows }) => ({ number, shows })),
    personas.map(({ number, shows }) => ({ number, shows })),
  )
})
