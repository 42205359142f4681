import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { sql } from '../../src/database/database.ts'
import { consoleOrigin, startComposedConsole, type Browser } from '../support/composed-console.ts'
import { credentialsOf, openConsoleSocket } from '../support/console-socket.ts'
import { createOrganizationFixture, minimalAgentFile } from '../support/organization-fixture.ts'
import { until } from '../support/until.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let agentId: string
let admin: Browser

before(async () => {
  app = await startComposedConsole()
  const fixture = await createOrganizationFixture(app.db)
  organizationId = fixture.organizationId
  agentId = fixture.agentId
  admin = (await app.signInAs(organizationId, 'admin', 'admin@talking.test')).browser
})
after(() => app.stop())

const ask = (browser: Browser, body: object, agent = agentId) =>
  browser.send('POST', `/console/agents/${agent}/talk`, body)

const talk = async (browser: Browser, version: 'draft' | 'published', agent = agentId) => {
  const { status, body } = await ask(browser, { version }, agent)
  assert.equal(status, 200, JSON.stringify(body))
  const count = app.talks.begun.length
  const peer = openConsoleSocket(
    app.url,
    String(body['ticket']),
    credentialsOf(browser, consoleOrigin),
  )
  await peer.opened
  const begun = await until('the talk to begin', () => app.talks.begun.at(count))
  return { peer, begun }
}

test('an admin talks: sound both ways, turns and latencies, and nothing is stored of it but that it was', async () => {
  const { peer, begun } = await talk(admin, 'published')
  const [{ calls: callsBefore } = { calls: -1 }] = await countCalls()
  peer.socket.send(new Uint8Array(320).fill(9))
  await until('the microphone to be heard', () => begun.heard[0])
  assert.deepEqual([begun.heard[0]?.length, begun.heard[0]?.[0]], [320, 9])
  assert.equal(begun.request.contact.name, 'Ada Lovelace')
  const messages: unknown[] = []
  peer.socket.on('message', (data: Buffer, isBinary) =>
    messages.push(isBinary ? data.length : JSON.parse(data.toString())),
  )
  begun.listener.onSound(new Uint8Array(800))
  begun.listener.onWords({ text: 'Hello…', audioOffsetMs: 20 })
  begun.listener.onTurn({ sequence: 1, speaker: 'agent', text: 'Hello.', audioOffsetMs: 20 })
  begun.listener.onWords(undefined)
  begun.listener.onEnd('The agent hung up: done.')
  assert.equal(await peer.closed, 1000)
  assert.deepEqual(messages, [
    800,
    { type: 'words', words: { text: 'Hello…', audio_offset_ms: 20 } },
    { type: 'turn', sequence: 1, speaker: 'agent', text: 'Hello.', audio_offset_ms: 20 },
    { type: 'words', words: null },
  ])
  assert.deepEqual(await countCalls(), [{ calls: callsBefore }])
  const { body } = await admin.send('GET', '/console/audit?action=agent.talk')
  assert.equal((body['data'] as unknown[]).length, 1)
})

const countCalls = () =>
  app.db.rows<{ calls: number }>(
    sql(
      'talking-test.calls',
      'select count(*)::int as calls from calls where organization_id = $1',
    ),
    [organizationId],
  )

test('a draft is talked to once it has no faults, and only where there is one', async () => {
  assert.equal((await ask(admin, { version: 'draft' })).status, 409)
  const made = await admin.send('POST', '/console/agents/drafts', { name: 'Half' })
  const id = String(made.body['agent_id'])
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const faulty = await ask(admin, { version: 'draft' }, id)
  assert.equal(faulty.status, 409)
  assert.match(JSON.stringify(faulty.body), /The draft has faults/)
  assert.equal((await ask(admin, { version: 'published' }, id)).status, 409)
  const whole = await admin.send('POST', '/console/agents/drafts', minimalAgentFile)
  const { peer, begun } = await talk(admin, 'draft', String(whole.body['agent_id']))
  assert.equal(begun.request.agent.name, minimalAgentFile.name)
  peer.socket.close()
  await peer.closed
  await until('the talk to end', () => begun.left || undefined)
})

test('others than administrators are refused, and a talk ends with its session', async () => {
  for (const role of ['operator', 'viewer'] as const) {
    const { browser } = await app.signInAs(organizationId, role, `${role}@talking.test`)
    assert.equal((await ask(browser, { version: 'published' })).status, 403)
  }
  assert.equal((await ask(app.browse(), { version: 'published' })).status, 401)
  const other = await createOrganizationFixture(app.db)
  assert.equal((await ask(admin, { version: 'published' }, other.agentId)).status, 404)
  app.talks.state.problem = 'Too many talks.'
  assert.equal((await ask(admin, { version: 'published' })).status, 409)
  app.talks.state.problem = undefined
  const { browser } = await app.signInAs(organizationId, 'admin', 'leaving@talking.test')
  const { peer, begun } = await talk(browser, 'published')
  await browser.send('DELETE', '/console/session')
  assert.equal(await peer.closed, 4401)
  await until('the talk to end', () => begun.left || undefined)
})

test('a flood of microphone sound ends the talk', async () => {
  const { peer, begun } = await talk(admin, 'published')
  const ended = once(peer.socket, 'close')
  for (let count = 0; count < 2_000; count += 1) peer.socket.send(new Uint8Array(320))
  await ended
  assert.equal(await peer.closed, 1008)
  assert.ok(begun.heard.length <= 400, String(begun.heard.length))
})
