import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { createOutboundHttp, type OutboundHttp, type OutboundRequest } from './outbound-http.ts'

let server: Server
let origin: string
let opened: Socket[] = []
let outbound: OutboundHttp

before(async () => {
  server = createServer((request, response) => response.end(request.url))
  server.on('connection', (socket) => opened.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  opened = []
  outbound = createOutboundHttp(2)
})
afterEach(() => outbound.close())

const ask = async (changes: Partial<OutboundRequest> = {}, client = outbound): Promise<string> => {
  const response = await client.send({
    organizationId: 'one',
    url: new URL(`${origin}/`),
    method: 'GET',
    headers: {},
    signal: AbortSignal.timeout(5_000),
    allowPrivateNetwork: true,
    ...changes,
  })
  return text(response)
}

test('an organization keeps its connection to an origin, and no other gets it', async () => {
  await ask()
  await ask()
  assert.equal(opened.length, 1)
  await ask({ organizationId: 'two' })
  assert.equal(opened.length, 2)
  await ask({ url: new URL(origin.replace('127.0.0.1', 'localhost')) })
  assert.equal(opened.length, 3)
})

test('pools are bounded: the one used longest ago closes its idle connections', async () => {
  await ask()
  const [first] = opened
  assert.ok(first)
  const closed = once(first, 'close')
  await ask({ organizationId: 'two' })
  await ask({ organizationId: 'three' })
  await closed
  await ask()
  assert.equal(opened.length, 4)
})

test('headers of the connection, and values of more than one line, are never sent', async () => {
  for (const [name, value] of [
    ['Content-Length', '5'],
    ['Transfer-Encoding', 'chunked'],
    ['connection', 'keep-alive'],
    ['Host', 'other.example'],
    ['Upgrade', 'h2c'],
    ['TE', 'trailers'],
    ['Trailer', 'x'],
    ['Keep-Alive', 'timeout=5'],
    ['Proxy-Authorization', 'Basic eDp5'],
    ['Proxy-Anything', 'x'],
    ['Expect', '100-continue'],
    ['X-Key', 'a\r\nHost: b'],
    ['X-Key', 'a\0'],
    ['X-Key', 'a\x7f'],
    ['X Key', 'a'],
  ] as const)
    await assert.rejects(ask({ headers: { [name]: value } }), /header/i, name)
  assert.equal(opened.length, 0)
  assert.equal(await ask({ headers: { 'X-Key': 'a b\té' } }), '/')
})
