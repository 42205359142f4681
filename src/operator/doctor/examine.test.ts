import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { WebSocketServer } from 'ws'
import { readConfig } from '../../config/read-config.ts'
import { examine } from './examine.ts'
import { checkEngine } from './check-engine.ts'
import { checkTrunk } from './check-trunk.ts'

const goodKey = 'sk-good'
/** The provider accepts the socket and then refuses the key. */
const latePath = '/late'

const provider = createServer(({ headers, url }, response) => {
  const isKnown = headers.authorization === `Bearer ${goodKey}`
  response.writeHead(url !== '/v1/models' ? 404 : isKnown ? 200 : 401).end('{}')
})
const sockets = new WebSocketServer({ noServer: true })
provider.on('upgrade', (request, socket, head) => {
  const isKnown = request.headers.authorization === `Bearer ${goodKey}`
  const isLate = request.url === latePath
  if (!isKnown && !isLate) return void socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
  sockets.handleUpgrade(request, socket, head, (client) => {
    if (isLate) client.close(3000, 'invalid_request_error.invalid_api_key')
    else client.send('{"type":"session.created","session":{}}')
  })
})
const folder = mkdtempSync(join(tmpdir(), 'outdial-doctor-'))
let host: string

before(async () => {
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  host = `127.0.0.1:${(provider.address() as AddressInfo).port}`
})
after(() => {
  provider.close()
  provider.closeAllConnections()
  rmSync(folder, { recursive: true })
})

const ask = async (env: Record<string, string>) =>
  (await checkEngine(readConfig(env).engines)).map(({ status, message }) => ({ status, message }))

const realtime = (path: string, key: string) => ({
  OUTDIAL_ENGINE: 'realtime',
  OUTDIAL_REALTIME_URL: `ws://${host}${path}`,
  OUTDIAL_REALTIME_KEY: key,
})

test('a key that a server of the cascade refuses is reported by its setting, the others are ok', async () => {
  const url = `http://${host}/v1`
  const found = await ask({
    OUTDIAL_ENGINE: 'cascade',
    OUTDIAL_STT_URL: `${url}/`,
    OUTDIAL_STT_KEY: goodKey,
    OUTDIAL_LLM_URL: url,
    OUTDIAL_LLM_KEY: 'sk-wrong',
    OUTDIAL_TTS_URL: url,
  })
  assert.deepEqual(found, [
    { status: 'ok', message: `The AI provider at ${host} answers (OUTDIAL_STT_URL).` },
    {
      status: 'failed',
      message: `The AI provider at ${host} refuses the key with 401: set OUTDIAL_LLM_KEY to one that it takes.`,
    },
    {
      status: 'failed',
      message: `The AI provider at ${host} refuses us with 401: set OUTDIAL_TTS_KEY.`,
    },
  ])
})

test('a server without a list of models still counts as reachable', async () => {
  const [found] = await ask({ OUTDIAL_LLM_URL: `http://${host}/other` })
  assert.equal(found?.status, 'ok')
})

test('the key of a realtime server is checked by a handshake', async () => {
  assert.equal((await ask(realtime('/v1/realtime', goodKey)))[0]?.status, 'ok')
  const [refused] = await ask(realtime('/v1/realtime', 'sk-wrong'))
  assert.equal(refused?.status, 'failed')
  assert.match(refused?.message ?? '', /with 401: set OUTDIAL_REALTIME_KEY/)
})

test('a refusal of the key after the handshake of a realtime server is reported', async () => {
  const [refused] = await ask(realtime(latePath, 'sk-wrong'))
  assert.equal(refused?.status, 'failed')
  assert.match(refused?.message ?? '', /set OUTDIAL_REALTIME_KEY/)
})

test('a missing provider is reported by the setting of its address', async () => {
  for (const [name, url] of [
    ['OUTDIAL_LLM_URL', 'http://127.0.0.1:1/v1'],
    ['OUTDIAL_REALTIME_URL', 'ws://127.0.0.1:1'],
  ] as const) {
    const engine = name === 'OUTDIAL_LLM_URL' ? 'sandbox' : 'realtime'
    const [found] = await ask({ OUTDIAL_ENGINE: engine, [name]: url })
    assert.equal(found?.status, 'failed')
    assert.match(found?.message ?? '', new RegExp(`cannot be reached: check ${name}`))
  }
})

const downloads = async (env: Record<string, string>) => {
  const ports = { OUTDIAL_API_PORT: '0', OUTDIAL_MEDIA_PORT: '4002', OUTDIAL_DATA: folder }
  const found = await examine(readConfig({ ...ports, ...env }), () => Promise.reject(new Error()))
  return found.find(({ check }) => check === 'downloads')
}

test('beyond loopback, clients need the public address of recordings', async () => {
  assert.equal((await downloads({}))?.status, 'ok')
  const warned = await downloads({ OUTDIAL_HOST: '0.0.0.0' })
  assert.equal(warned?.status, 'warning')
  assert.match(warned?.message ?? '', /127\.0\.0\.1:4002: set OUTDIAL_PUBLIC_MEDIA_URL/)
  const told = { OUTDIAL_HOST: '0.0.0.0', OUTDIAL_PUBLIC_MEDIA_URL: 'https://media.example.test' }
  assert.equal((await downloads(told))?.status, 'ok')
})

const ports = async (env: Record<string, string>) => {
  const none = {
    OUTDIAL_API_PORT: '0',
    OUTDIAL_DASHBOARD_PORT: '0',
    OUTDIAL_MEDIA_PORT: '0',
    OUTDIAL_DATA: folder,
  }
  const found = await examine(readConfig({ ...none, ...env }), () => Promise.reject(new Error()))
  return found.find(({ check }) => check === 'ports')
}

test('an address of another machine is not mistaken for a port in use', async () => {
  const found = await ports({ OUTDIAL_HOST: '192.0.2.1', OUTDIAL_API_PORT: '4000' })
  assert.equal(found?.status, 'failed')
  assert.match(found?.message ?? '', /no address 192\.0\.2\.1: set OUTDIAL_HOST/)
})

test('the SIP port is checked too', async () => {
  assert.equal((await ports({}))?.status, 'ok')
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const taken = String(socket.address().port)
  try {
    const found = await ports({ OUTDIAL_SIP_PORT: taken })
    assert.equal(found?.status, 'warning')
    assert.ok(found?.message.includes(`${taken} (OUTDIAL_SIP_PORT)`), found?.message)
  } finally {
    socket.close()
  }
})

/**
 * A trunk of one response: every OPTIONS and INVITE over UDP gets these statuses in turn, the last one repeatedly.
 */
const openTrunk = async (t: TestContext, statuses: readonly string[]): Promise<string> => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  socket.on('message', (bytes, { port }) => {
    const [first = '', ...lines] = bytes.toString('latin1').split('\r\n')
    if (first.startsWith('ACK')) return
    const kept = lines.filter((line) => /^(Via|From|Call-ID|CSeq):/i.test(line))
    const to = lines.find((line) => /^To:/i.test(line)) ?? ''
    for (const status of first.startsWith('CANCEL') ? ['200 OK'] : statuses)
      socket.send(
        [`SIP/2.0 ${status}`, ...kept, `${to};tag=b`, 'Content-Length: 0', '', ''].join('\r\n'),
        port,
        '127.0.0.1',
      )
  })
  return `127.0.0.1:${socket.address().port}`
}

const trunkFindings = async (env: Record<string, string>, call?: string) =>
  (await checkTrunk(readConfig(env).sip, call)).map(({ check, status, message }) => ({
    check,
    status,
    message,
  }))

for (const [status, expected, words] of [
  ['200 OK', 'ok', /answers OPTIONS with 200/],
  ['405 Method Not Allowed', 'ok', /answers OPTIONS with 405/],
  ['401 Unauthorized', 'warning', /asks for a user and a password, and OUTDIAL_SIP_TRUNK has none/],
  ['403 Forbidden', 'warning', /allow the public address of this machine/],
  ['404 Not Found', 'warning', /does not know this domain or user/],
  ['503 Service Unavailable', 'failed', /out of service/],
] as const)
  test(`a trunk that answers OPTIONS with ${status} is told for what it means`, async (t) => {
    const trunk = await openTrunk(t, [status])
    const found = await trunkFindings({ OUTDIAL_SIP_TRUNK: `sip:${trunk}` })
    const finding = found.find(({ check }) => check === 'trunk')
    assert.equal(finding?.status, expected)
    assert.match(finding?.message ?? '', words)
  })

test('a trunk whose name has no address is reported as a DNS problem', async () => {
  const found = await trunkFindings({ OUTDIAL_SIP_TRUNK: 'sip:no-such-host.invalid' })
  assert.deepEqual(
    found.map(({ check, status }) => [check, status]),
    [['dns', 'failed']],
  )
})

test('a trunk in a private network needs no public address', async (t) => {
  const trunk = await openTrunk(t, ['200 OK'])
  const found = await trunkFindings({ OUTDIAL_SIP_TRUNK: `sip:${trunk}` })
  const nat = found.find(({ check }) => check === 'nat')
  assert.equal(nat?.status, 'ok')
  assert.match(nat?.message ?? '', /in a private network, as is 127\.0\.0\.1/)
})

for (const [statuses, expected, words] of [
  [['100 Trying', '486 Busy Here'], 'ok', /was reached and is busy/],
  [['403 Forbidden'], 'failed', /SIP 403 Forbidden.*OUTDIAL_CALLER_ID is yours/],
  [['404 Not Found'], 'failed', /SIP 404 Not Found.*Check the number/],
] as const)
  test(`a call that is tried and answered with ${statuses.at(-1)} says so`, async (t) => {
    const trunk = await openTrunk(t, statuses)
    const env = { OUTDIAL_SIP_TRUNK: `sip:${trunk}`, OUTDIAL_CALLER_ID: '+12025550199' }
    const call = (await trunkFindings(env, '+12025550123')).find(({ check }) => check === 'call')
    assert.equal(call?.status, expected)
    assert.match(call?.message ?? '', words)
    assert.doesNotMatch(call?.message ?? '', /\+12025550123/)
  })
