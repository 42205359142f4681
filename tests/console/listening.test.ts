import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { sql } from '../../src/database/database.ts'
import { setRole } from '../../src/identity/member-store.ts'
import { consoleOrigin, startComposedConsole, type Browser } from '../support/composed-console.ts'
import { credentialsOf, openConsoleSocket } from '../support/console-socket.ts'
import { createOrganizationFixture } from '../support/organization-fixture.ts'
import { until } from '../support/until.ts'

type App = Awaited<ReturnType<typeof startComposedConsole>>

let app: App
let organizationId: OrganizationId
let callId: string
let placeCall: (phoneNumber: string) => Promise<string>
let entry: ReturnType<App['live']['enter']>
let passes: boolean[]

before(async () => {
  app = await startComposedConsole()
  const fixture = await createOrganizationFixture(app.db)
  organizationId = fixture.organizationId
  placeCall = (phoneNumber) => fixture.placeCall(phoneNumber)
  callId = await heldCall('+12025550171')
  passes = []
  entry = app.live.enter(
    { organizationId, callId },
    { reportWords: () => undefined, passSound: (isOn) => void passes.push(isOn) },
  )
})
after(() => app.stop())

const heldCall = async (phoneNumber: string): Promise<string> => {
  const id = await placeCall(phoneNumber)
  await app.db.run(
    sql(
      'listening-test.hold',
      `update calls
          set status = 'in_progress', dialing_at = now(), connected_at = now(), lease_token = gen_random_uuid()
        where organization_id = $1 and id = $2`,
    ),
    [organizationId, id],
  )
  return id
}

let people = 0
const signIn = (role: 'owner' | 'admin' | 'operator' | 'viewer') => {
  people += 1
  return app.signInAs(organizationId, role, `${role}-${people}@listening.test`)
}

const ticketOf = async (browser: Browser, call = callId): Promise<string> => {
  const { status, body } = await browser.send('POST', `/console/calls/${call}/listen`, {})
  assert.equal(status, 200, JSON.stringify(body))
  return String(body['ticket'])
}

const listen = async (browser: Browser) => {
  const ticket = await ticketOf(browser)
  const listener = openConsoleSocket(app.url, ticket, credentialsOf(browser, consoleOrigin))
  await listener.opened
  return listener
}

/** Sounds until the bytes have come: what is sent before the connection is served is heard by nobody. */
const hear = async (
  listener: Awaited<ReturnType<typeof listen>>,
  byte: number,
): Promise<Buffer> => {
  const heard = Promise.withResolvers<Buffer>()
  listener.socket.on('message', (data: Buffer) => {
    if (data[0] === byte) heard.resolve(data)
  })
  const timer = setInterval(() => entry.sounds(new Uint8Array(1_600).fill(byte)), 20)
  const data = await heard.promise
  clearInterval(timer)
  return data
}

test('operators and above hear the call, which is asked for sound while they do, and it is noted', async () => {
  for (const role of ['operator', 'admin', 'owner'] as const) {
    const { browser } = await signIn(role)
    const listener = await listen(browser)
    assert.equal((await hear(listener, 11)).length, 1_600)
    listener.socket.close()
    await listener.closed
    await until('the sound to be turned off', () => passes.at(-1) === false || undefined)
  }
  const { browser: admin } = await signIn('admin')
  const { body } = await admin.send('GET', '/console/audit?action=call.listen')
  const entries = body['data'] as { action: string; target: { id: string } }[]
  assert.deepEqual(
    entries.map(({ action, target }) => [action, target.id]),
    Array(3).fill(['call.listen', callId]),
  )
})

test('no ticket is given for what cannot be heard, or to whom it is not for', async () => {
  const { browser: operator } = await signIn('operator')
  const { browser: viewer } = await signIn('viewer')
  const elsewhere = await heldCall('+12025550172')
  const queued = await placeCall('+12025550173')
  const ask = async (browser: Browser, call: string) =>
    (await browser.send('POST', `/console/calls/${call}/listen`, {})).status
  assert.equal(await ask(viewer, callId), 403)
  assert.equal(await ask(app.browse(), callId), 401)
  assert.equal(await ask(operator, queued), 409)
  const { status, body } = await operator.send('POST', `/console/calls/${elsewhere}/listen`, {})
  assert.equal(status, 409)
  assert.match(JSON.stringify(body), /Another node carries this call/)
})

test('a ticket is good once, for its session and the dashboard’s own pages', async () => {
  const { browser } = await signIn('operator')
  const { browser: colleague } = await signIn('operator')
  const foreign = await createOrganizationFixture(app.db)
  const { browser: stranger } = await app.signInAs(
    foreign.organizationId,
    'owner',
    'stranger@listening.test',
  )
  const own = credentialsOf(browser, consoleOrigin)
  const statusOf = async (
    ticket: string,
    headers: Parameters<typeof openConsoleSocket>[2],
  ): Promise<number> => openConsoleSocket(app.url, ticket, headers).refused
  const ticket = await ticketOf(browser)
  assert.equal(await statusOf(ticket, { origin: consoleOrigin }), 401)
  for (const origin of [undefined, 'http://evil.test', 'null', 'http://dashboard.test.evil.test'])
    assert.equal(await statusOf(ticket, { ...own, origin }), 403)
  assert.equal(await statusOf('invented', own), 404)
  assert.equal(await statusOf(ticket, credentialsOf(stranger, consoleOrigin)), 404)
  // Whoever else shows it has used it up.
  assert.equal(await statusOf(ticket, own), 404)
  const another = await ticketOf(browser)
  assert.equal(await statusOf(another, credentialsOf(colleague, consoleOrigin)), 404)
  const listener = await listen(browser)
  listener.socket.close()
  await listener.closed
})

test('listening ends with the session, with another role, and with the call', async () => {
  const signedOut = await signIn('operator')
  const first = await listen(signedOut.browser)
  await hear(first, 21)
  await signedOut.browser.send('DELETE', '/console/session')
  assert.equal(await first.closed, 4401)

  const demoted = await signIn('operator')
  const second = await listen(demoted.browser)
  await setRole(app.db, organizationId, demoted.accountId, 'viewer')
  assert.equal(await second.closed, 4401)

  const other = await heldCall('+12025550174')
  const short = app.live.enter(
    { organizationId, callId: other },
    { reportWords: () => undefined, passSound: () => undefined },
  )
  const { browser } = await signIn('operator')
  const ticket = await ticketOf(browser, other)
  const third = openConsoleSocket(app.url, ticket, credentialsOf(browser, consoleOrigin))
  await third.opened
  short.leave()
  assert.equal(await third.closed, 1000)
})

test('what is no audio, too long or too much ends the connection alone', async () => {
  const { browser } = await signIn('operator')
  const witness = await listen(browser)
  const talkative = await listen(browser)
  talkative.socket.send('text')
  assert.equal(await talkative.closed, 1008)
  const long = await listen(browser)
  long.socket.send(new Uint8Array(100_000))
  assert.equal(await long.closed, 1009)

  const { host, hostname, port } = new URL(app.url)
  const ticket = await ticketOf(browser)
  const raw = connect(Number(port), hostname)
  // The first frame comes with the handshake; its mask is missing and its reserved bits are set (RFC 6455 section 5).
  raw.write(
    `GET /console/audio?ticket=${ticket} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${consoleOrigin}\r\n` +
      `Cookie: ${browser.cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n\xf2\x05hello`,
    'latin1',
  )
  const answer: Buffer[] = []
  raw.on('data', (data: Buffer) => answer.push(data))
  await once(raw, 'end')
  assert.match(Buffer.concat(answer).toString('latin1'), /^HTTP\/1\.1 101 /)
  assert.equal((await hear(witness, 31)).length, 1_600)
  witness.socket.close()
  await witness.closed
})

test('a browser that reads nothing keeps no other from hearing', async () => {
  const { browser } = await signIn('operator')
  const [slow, fast] = [await listen(browser), await listen(browser)]
  slow.socket.pause()
  for (let count = 0; count < 5_000; count += 1) entry.sounds(new Uint8Array(1_600).fill(41))
  assert.equal((await hear(fast, 42)).length, 1_600)
  slow.socket.terminate()
  fast.socket.close()
  await Promise.all([slow.closed, fast.closed])
})

test('other paths take no upgrade and answer as ever', async () => {
  const { hostname, port, host } = new URL(app.url)
  for (const [path, protocol] of [
    ['/console/session', 'websocket'],
    ['/console/audio', 'h2c'],
  ]) {
    const raw = connect(Number(port), hostname)
    raw.write(
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`,
    )
    const [data] = (await once(raw, 'data')) as [Buffer]
    assert.match(data.toString(), /^HTTP\/1\.1 40[14] /, path)
    raw.destroy()
  }
})
