import type { OrganizationId } from '../../src/contract/organization-id.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  consoleOperations,
  type ConsoleOperationName,
} from '../../src/contract/console/operations.ts'
import { roles, type Role } from '../../src/contract/roles.ts'
import { sql } from '../../src/database/database.ts'
import { createApiKey } from '../../src/domains/api-keys/create-api-key.ts'
import { publishAutomation } from '../../src/domains/automations/publish-automation.ts'
import { createBatch } from '../../src/domains/batches/create-batch.ts'
import { appendTurn } from '../../src/domains/results/transcript-store.ts'
import { listSessions } from '../../src/identity/session-store.ts'
import { newId } from '../../src/runtime/ids.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import {
  contactBody,
  contextOf,
  createOrganizationFixture,
  minimalAgentFile,
} from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
const browsers = new Map<Role, Browser>()
/** One of each resource of another organization, by the name that paths give it. */
let foreign: Readonly<Record<string, string>>
let foreignWords: readonly string[]

const names = Object.keys(consoleOperations) as ConsoleOperationName[]

const phoneNumber = '+12025550177'

/** An organization with one of each resource. */
const fill = async (): Promise<Readonly<Record<string, string>>> => {
  const { db } = app
  const fixture = await createOrganizationFixture(db)
  const { organizationId, agentId } = fixture
  const callId = await fixture.placeCall(phoneNumber)
  const row = await db.row<{ contact_id: string }>(
    sql('test.contact', 'select contact_id from calls where id = $1'),
    [callId],
  )
  const contactId = row?.contact_id ?? ''
  const automation = await publishAutomation(db, organizationId, automationFile(agentId))
  const batch = await db.transaction((tx) =>
    createBatch(
      {
        params: {},
        query: {},
        body: { name: 'Foreign batch', agent_id: agentId, contact_ids: [contactId] },
      },
      contextOf(tx, organizationId),
    ),
  )
  const key = await createApiKey(db, { organizationId, name: 'Foreign key', scopes: 'all' })
  const owner = await app.signInAs(organizationId, 'owner', `${newId()}@foreign.test`)
  const [session] = await listSessions(db, owner.accountId)
  const invited = await owner.browser.send('POST', '/console/invitations', {
    email: 'guest@foreign.test',
    role: 'viewer',
  })
  const run = await owner.browser.send('POST', '/console/runs', {
    automation_id: automation.id,
    contact_id: contactId,
  })
  assert.equal(run.status, 202, JSON.stringify(run.body))
  return {
    organization_id: organizationId,
    agent_id: agentId,
    call_id: callId,
    contact_id: contactId,
    automation_id: automation.id,
    run_id: String(run.body['id']),
    batch_id: batch.id,
    api_key_id: key.id,
    account_id: owner.accountId,
    session_id: session?.id ?? '',
    invitation_id: String(invited.body['id']),
  }
}

const automationFile = (agentId: string) => ({
  name: 'Follow-up',
  definition: {
    entry: 'call',
    steps: {
      call: { type: 'call', agent_id: agentId, next: 'done' },
      done: { type: 'end', result: 'completed' },
    },
  },
})

before(async () => {
  app = await startComposedConsole()
  const { id } = await app.createOrganization('Own')
  for (const role of roles)
    browsers.set(role, (await app.signInAs(id, role, `${role}@own.test`)).browser)
  foreign = await fill()
  foreignWords = [...Object.values(foreign), phoneNumber, 'foreign.test', 'Foreign']
})
after(() => app.stop())

/** A valid body of each operation that has one; ids in it are the other organization's. */
const bodies: Partial<Record<ConsoleOperationName, () => object>> = {
  changeRole: () => ({ role: 'viewer' }),
  renameApiKey: () => ({ name: 'Mine' }),
  checkAgent: () => ({ file: minimalAgentFile, agent_id: foreign['agent_id'] }),
  saveAgentDraft: () => ({ file: minimalAgentFile, revision: 0, version: 1 }),
  publishAgent: () => minimalAgentFile,
  publishAutomation: () => automationFile(foreign['agent_id'] ?? ''),
  setAutomationStatus: () => ({ status: 'paused' }),
  chooseOrganization: () => ({ organization_id: foreign['organization_id'] }),
  placeCall: () => ({ agent_id: foreign['agent_id'], phone_number: phoneNumber }),
  simulateAutomation: () => ({
    definition: automationFile(foreign['agent_id'] ?? '').definition,
    contact_id: foreign['contact_id'],
    answers: ['answered'],
  }),
  createBatch: () => ({
    name: 'Mine',
    agent_id: foreign['agent_id'],
    contact_ids: [foreign['contact_id']],
  }),
  previewWindow: () => ({ contact_ids: [foreign['contact_id']] }),
  retryBatch: () => ({ ends: ['failed'] }),
  startRun: () => ({
    automation_id: foreign['automation_id'],
    contact_id: foreign['contact_id'],
  }),
}

/** Queries without which an operation is refused. */
const queries: Partial<Record<ConsoleOperationName, string>> = {
  discardAgentDraft: '?revision=1',
  compareAgentVersions: '?before=1&after=draft',
}

/** Parts of paths that name nothing alone. */
const partsOfPaths: Readonly<Record<string, string>> = { version: '1' }

const ask = (browser: Browser, name: ConsoleOperationName) => {
  const { method, path } = consoleOperations[name]
  const filled = path.replace(
    /\{(\w+)\}/g,
    (_, id: string) => foreign[id] ?? partsOfPaths[id] ?? assert.fail(id),
  )
  const body = method === 'POST' || method === 'PATCH' ? (bodies[name]?.() ?? {}) : undefined
  return browser.send(method, filled + (queries[name] ?? ''), body)
}

const anyRoleOf = (name: ConsoleOperationName): readonly Role[] => consoleOperations[name].anyRole

/** They end or change the session that asks, and name nothing of another organization. */
const aboutItself = new Set<ConsoleOperationName>(['signOut', 'endOtherSessions'])

for (const name of names.filter((each) => !consoleOperations[each].open)) {
  const { method, path } = consoleOperations[name]
  const foreigner = path.includes('{') || name in bodies
  test(`${method} ${path}: only its roles, and nothing of another organization`, async () => {
    assert.equal((await ask(app.browse(), name)).status, 401)
    const keyed = await app.browse().send(method, '/console/session', undefined, {
      authorization: 'Bearer od_live_x',
    })
    assert.notEqual(keyed.status, 200)
    for (const [role, browser] of browsers) {
      if (!anyRoleOf(name).includes(role)) {
        const refused = await ask(browser, name)
        assert.deepEqual([refused.status, refused.code], [403, 'insufficient_scope'], role)
      } else if (foreigner) {
        const answer = await ask(browser, name)
        assert.equal(answer.status, 404, `${role}: ${JSON.stringify(answer.body)}`)
      } else if (method === 'GET') {
        const answer = await ask(browser, name)
        assert.equal(answer.status, 200, `${role}: ${JSON.stringify(answer.body)}`)
        const text = JSON.stringify(answer.body)
        for (const word of foreignWords) assert.ok(!text.includes(word), `${role}: ${word}`)
      } else if (!aboutItself.has(name)) {
        // Nothing of another organization can be named: an empty body is refused for what it lacks.
        const answer = await ask(browser, name)
        assert.ok([200, 400].includes(answer.status), `${role}: ${JSON.stringify(answer.body)}`)
      }
    }
  })
}

test('every operation that is for no role is for visitors, and each role has fewer than the one above', () => {
  for (const name of names)
    assert.equal(anyRoleOf(name).length === 0, consoleOperations[name].open, name)
  const counts = roles.map((role) => names.filter((each) => anyRoleOf(each).includes(role)).length)
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => b - a),
  )
  assert.ok((counts[1] ?? 0) > (counts[2] ?? 0) && (counts[2] ?? 0) > (counts[3] ?? 0))
})

test('a viewer reads no number, name or word, and an operator does', async () => {
  const organizationId = foreign['organization_id'] ?? ''
  const recipient = contactBody({
    external_id: 'crm-secret',
    name: 'Grace Hopper',
    phone_number: '+12025550142',
    email: 'grace@navy.test',
    company: 'Navy',
  })
  const viewer = await app.signInAs(
    organizationId as OrganizationId,
    'viewer',
    'viewer@foreign.test',
  )
  const operator = await app.signInAs(
    organizationId as OrganizationId,
    'operator',
    'operator@foreign.test',
  )
  await operator.browser.send('POST', '/console/contacts', recipient)
  const id = foreign['call_id'] ?? ''
  await appendTurn(
    app.db,
    { organizationId: organizationId as OrganizationId, callId: id },
    { sequence: 1, speaker: 'contact', text: 'My secret word', audioOffsetMs: 0 },
  )
  const secrets = [
    'Grace',
    '+12025550142',
    'navy',
    'crm-secret',
    'Navy',
    'secret word',
    phoneNumber,
  ]
  const paths = ['/console/contacts', '/console/calls', `/console/calls/${id}`]
  const texts = async (browser: Browser): Promise<string> => {
    const answers = []
    for (const path of paths) answers.push((await browser.send('GET', path)).body)
    return JSON.stringify(answers)
  }
  const [seen, shown] = [await texts(viewer.browser), await texts(operator.browser)]
  assert.deepEqual(
    secrets.filter((word) => seen.includes(word)),
    [],
  )
  assert.deepEqual(
    secrets.filter((word) => !shown.includes(word)),
    [],
  )
  assert.equal((await viewer.browser.send('GET', `/console/calls/${id}/recording`)).status, 403)
})

test('each change stands in the audit log with who, from where and what, without secrets', async () => {
  const { id } = await app.createOrganization('Audited')
  const { browser } = await app.signInAs(id, 'owner', 'auditor@own.test')
  const made = await browser.send('POST', '/console/api-keys', {
    name: 'A key',
    scopes: ['calls:read'],
  })
  const secret = String(made.body['secret'])
  await browser.send('POST', `/console/api-keys/${String(made.body['id'])}/revoke`, {})
  const agent = await browser.send('POST', '/console/agents', minimalAgentFile)
  const policy = await browser.send('GET', '/console/policy')
  await browser.send('PATCH', '/console/policy', { ...policy.body, time_zone: 'Europe/Berlin' })
  assert.equal(agent.status, 201)
  // A refused change leaves no entry.
  await browser.send('PATCH', '/console/policy', { time_zone: 'Mars' })

  const { body } = await browser.send('GET', '/console/audit')
  const entries = body['data'] as Record<string, unknown>[]
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['policy.change', 'agent.create', 'api_key.revoke', 'api_key.create', 'session.open'],
  )
  const [changed] = entries
  assert.ok(changed)
  assert.deepEqual((changed['actor'] as { name: string }).name, 'auditor@own.test')
  assert.equal(changed['address'], '198.51.100.1')
  assert.equal((changed['before'] as { time_zone: string }).time_zone, 'America/New_York')
  assert.equal((changed['after'] as { time_zone: string }).time_zone, 'Europe/Berlin')
  assert.ok(!JSON.stringify(entries).includes(secret))
  const filtered = await browser.send('GET', '/console/audit?target_type=api_key&limit=1')
  assert.equal((filtered.body['data'] as unknown[]).length, 1)
  const next = String(filtered.body['next_cursor'])
  const second = await browser.send('GET', `/console/audit?target_type=api_key&cursor=${next}`)
  assert.equal((second.body['data'] as { action: string }[])[0]?.action, 'api_key.create')
  const exported = await browser.send('GET', '/console/audit/export?action=policy.change')
  assert.equal(String(exported.body['csv']).trim().split('\n').length, 2)
  await assert.rejects(
    app.db.run(sql('test.rewrite', `update audit_entries set action = 'x'`), []),
    /append-only/,
  )
  await assert.rejects(
    app.db.run(sql('test.erase', `delete from audit_entries`), []),
    /append-only/,
  )
})

test('PATCH /api-keys on the API’s port is for sessions of administrators from the dashboard', async () => {
  const { id } = await app.createOrganization('Keys')
  const key = await createApiKey(app.db, { organizationId: id, name: 'Old', scopes: 'all' })
  const path = `/api-keys/${key.id}`
  const at = async (role: Role) => {
    const { browser } = await app.signInAs(id, role, `${role}@keys.test`)
    const there = app.browse('198.51.100.1', app.apiUrl)
    there.cookie = browser.cookie
    return there
  }
  const admin = await at('admin')
  const renamed = await admin.send('PATCH', path, { name: 'New' })
  assert.deepEqual([renamed.status, renamed.body['name']], [200, 'New'])
  const evil = { origin: 'http://evil.test' }
  assert.equal((await admin.send('PATCH', path, { name: 'No' }, evil)).status, 403)
  assert.equal((await (await at('operator')).send('PATCH', path, { name: 'No' })).status, 403)
  const nobody = app.browse('198.51.100.1', app.apiUrl)
  assert.equal((await nobody.send('PATCH', path, { name: 'No' })).status, 401)
  const bearer = { authorization: `Bearer ${key.secret}` }
  assert.equal((await nobody.send('PATCH', path, { name: 'No' }, bearer)).status, 403)
  assert.equal((await admin.send('PATCH', path, { name: 'No' }, bearer)).status, 403)
  const foreignKey = `/api-keys/${foreign['api_key_id'] ?? ''}`
  assert.equal((await admin.send('PATCH', foreignKey, { name: 'No' })).status, 404)
  assert.equal((await admin.send('GET', '/calls')).status, 403)
})
