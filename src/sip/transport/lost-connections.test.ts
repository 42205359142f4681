// Runs beside others: it waits for most of its 15 s.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { test, type TestContext } from 'node:test'
import { openBlackHole } from '../../../tests/support/sip/black-hole.ts'
import { makeSelfSigned } from '../../../tests/support/self-signed.ts'
import { missingPeer } from '../../../tests/support/peers.ts'
import { audioSdp, call, startAgent } from '../../../tests/support/sip/test-agents.ts'
import { serializeMessage } from '../message/message.ts'
import { parseMessage } from '../message/parse-message.ts'
import { createResponse } from '../message/responses.ts'
import { defaultTiming } from '../transaction/transaction-timing.ts'
import type { IncomingInvite } from '../user-agent/user-agent-types.ts'
import { createTcpTransport } from './stream-transport.ts'

const missingOpenssl = missingPeer('openssl')
const needsOpenssl = missingOpenssl === undefined ? {} : { skip: missingOpenssl }

const target = (port: number): string => `sip:+12025550100@127.0.0.1:${port};transport=tcp`

const startCallee = async (
  t: TestContext,
  take: (incoming: IncomingInvite) => void = (incoming) => void incoming.accept(audioSdp()),
) => {
  const invites: string[] = []
  const callee = await startAgent(t, { listensOnTcp: true, timing: defaultTiming })
  callee.onInvite((incoming) => {
    invites.push(incoming.request.headers.find(([name]) => name === 'call-id')?.[1] ?? '')
    take(incoming)
  })
  return { port: callee.localPort, invites }
}

test('an INVITE on a connection that fell silent goes over a new one, and rings once', async (t) => {
  const { port, invites } = await startCallee(t)
  const relay = await openBlackHole(t, port)
  const caller = await startAgent(t, { timing: defaultTiming })
  const first = await call(caller, target(relay.port))
  assert.ok(first.kind === 'answered')
  await first.dialog.bye()
  relay.swallow()
  const second = await call(caller, target(relay.port), {
    responseTimeoutMs: 60_000,
    ringTimeoutMs: 60_000,
  })
  assert.equal(second.kind, 'answered')
  assert.equal(relay.opened, 2)
  assert.equal(invites.length, 2)
})

test('an INVITE whose connection closes without a response goes over a new one, byte by byte', async (t) => {
  const copies: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      copies.push(bytes.toString())
      const parsed = parseMessage(bytes)
      if (copies.length === 1) socket.destroy()
      else if (parsed.ok && parsed.message.kind === 'request')
        socket.write(serializeMessage(createResponse(parsed.message, 486)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const result = await call(await startAgent(t), target(port))
  assert.ok(result.kind === 'refused')
  assert.equal(result.response.status, 486)
  assert.equal(copies.length, 2)
  assert.equal(copies[0], copies[1])
})

test('a dead connection is closed, and its destination told', async (t) => {
  const server = createServer(() => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const transport = createTcpTransport({
    bindAddress: '127.0.0.1',
    keepAlive: { pingEveryMs: 20, answerMs: 10 },
  })
  t.after(() => transport.stop())
  const lost = Promise.withResolvers<number>()
  let asked = 0
  await transport.start({
    receive: () => {},
    admits: () => false,
    onLost: (destination) => {
      lost.resolve(destination.port)
    },
    askPeer: async () => {
      asked += 1
    },
  })
  await transport.prepare({ protocol: 'tcp', address: '127.0.0.1', port })
  assert.equal(await lost.promise, port)
  assert.equal(asked, 1)
})

test('a refused connection leaves the call undialled', async (t) => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const result = await call(await startAgent(t), target(port))
  assert.ok(result.kind === 'unreachable')
  assert.equal(result.invited, false)
  assert.match(result.reason, /connection refused \(ECONNREFUSED\)/)
})

test(
  "the reason of a call that failed by TLS is the certificate's fault",
  needsOpenssl,
  async (t) => {
    const [certificate, other] = [makeSelfSigned(), makeSelfSigned()]
    const callee = await startAgent(t, { tls: { server: certificate } })
    const { port } = { port: callee.tlsPort }
    const reasonWith = async (client: object): Promise<string> => {
      const caller = await startAgent(t, { tls: { client } })
      const result = await call(caller, `sip:+12025550100@127.0.0.1:${port};transport=tls`)
      return result.kind === 'unreachable' && !result.invited ? result.reason : result.kind
    }
    assert.match(await reasonWith({}), /self-signed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/)
    assert.match(await reasonWith({ ca: other.cert }), /certificate .*\([A-Z_]+\)/)
    const wrongName = { ca: certificate.cert, serverName: 'sip.example.com' }
    assert.match(await reasonWith(wrongName), /for another name \(ERR_TLS_CERT_ALTNAME_INVALID\)/)
    // Only its explicit word lets a wrong certificate pass: the callee has no handler, so it refuses the call.
    assert.equal(await reasonWith({ isInsecure: true }), 'refused')
  },
)

test(
  'a server that asks for a client certificate gets ours, and its refusal is no lost call',
  needsOpenssl,
  async (t) => {
    const certificate = makeSelfSigned()
    const server = createTlsServer(
      { ...certificate, ca: certificate.cert, requestCert: true, rejectUnauthorized: true },
      (socket) => socket.on('error', () => {}),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const caller = await startAgent(t, { tls: { client: { ca: certificate.cert } } })
    const result = await call(caller, `sip:+12025550100@127.0.0.1:${port};transport=tls`)
    assert.ok(result.kind === 'unreachable')
    assert.match(result.reason, /refused our TLS certificate, or asks for one/)
    assert.equal(result.invited, false)
  },
)

test('2,000 idle connections of strangers change nothing for the trunk', async (t) => {
  const callee = await startAgent(t, {
    listensOnTcp: true,
    sources: { admits: ({ address }) => address === '127.0.0.1', areOneTrunk: () => false },
  })
  callee.onInvite((incoming) => {
    incoming.reject(486, 'Busy Here')
  })
  // In portions: beyond the system's queue for new connections, an idle one would never learn that it was closed.
  for (let portion = 0; portion < 40; portion += 1) {
    const closed = Array.from({ length: 50 }, (_, each) => {
      const localAddress = `127.0.${1 + each}.2`
      const socket = connect({ host: '127.0.0.1', port: callee.localPort, localAddress })
      socket.on('error', () => {})
      return new Promise((resolve) => socket.once('close', resolve))
    })
    await Promise.all(closed)
  }
  const caller = await startAgent(t)
  const result = await call(caller, target(callee.localPort))
  assert.equal(result.kind, 'refused')
})
