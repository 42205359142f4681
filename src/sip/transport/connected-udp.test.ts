import assert from 'node:assert/strict'
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { connectUdp } from './connected-udp.ts'
import { openScriptedPeer } from '../../../tests/support/sip/scripted-peer.ts'
import { call, startAgent } from '../../../tests/support/sip/test-agents.ts'

const openConnection = async (t: TestContext) => {
  const peer = createSocket('udp4').bind(0, '127.0.0.1')
  await once(peer, 'listening')
  const { promise: heard, resolve: hear } = Promise.withResolvers<Buffer>()
  const connection = await connectUdp({
    family: 'udp4',
    bindAddress: '127.0.0.1',
    port: 0,
    destination: { protocol: 'udp', address: '127.0.0.1', port: peer.address().port },
    receive: hear,
  })
  t.after(() => {
    connection.close()
  })
  return { peer, connection, heard }
}

const isRefused = (sent: Promise<void>): Promise<boolean> =>
  sent.then(
    () => false,
    () => true,
  )

test('a refusal belongs to the only datagram in flight', async (t) => {
  const { peer, connection } = await openConnection(t)
  assert.equal(await isRefused(connection.send(Buffer.from('delivered'))), false)
  assert.equal(connection.isRefusing, false)
  peer.close()
  assert.equal(await isRefused(connection.send(Buffer.from('refused'))), true)
  assert.equal(connection.isRefusing, true)
})

test('of two datagrams in flight on this machine the later one was refused', async (t) => {
  const { peer, connection } = await openConnection(t)
  const delivered = isRefused(connection.send(Buffer.from('delivered')))
  peer.close()
  const refused = isRefused(connection.send(Buffer.from('refused')))
  assert.deepEqual([await delivered, await refused], [false, true])
  assert.equal(connection.isRefusing, true)
})

test('a datagram that does not leave because an earlier one was refused counts as refused too', async (t) => {
  const { peer, connection } = await openConnection(t)
  const delivered = isRefused(connection.send(Buffer.from('delivered')))
  peer.close()
  const others = ['refused', 'not sent', 'refused'].map((text) =>
    isRefused(connection.send(Buffer.from(text))),
  )
  assert.deepEqual(await Promise.all([delivered, ...others]), [false, true, true, true])
})

test('a message from the destination ends the suspicion', async (t) => {
  const { peer, connection, heard } = await openConnection(t)
  const first = once(peer, 'message') as Promise<[Buffer, RemoteInfo]>
  await connection.send(Buffer.from('delivered'))
  const [, ours] = await first
  const { port } = peer.address()
  peer.close()
  await isRefused(connection.send(Buffer.from('refused')))
  assert.equal(connection.isRefusing, true)
  const again = createSocket('udp4').bind(port, '127.0.0.1')
  await once(again, 'listening')
  again.send('back', ours.port, ours.address)
  await heard
  assert.equal(connection.isRefusing, false)
  again.close()
})

test('an INVITE that was delivered counts as sent when its repetition is refused', async (t) => {
  const peer = await openScriptedPeer()
  const caller = await startAgent(t)
  const result = call(caller, peer.target)
  await peer.nextRequest('INVITE')
  await peer.close()
  const { kind, ...facts } = await result
  assert.equal(kind, 'unreachable')
  assert.deepEqual(facts, { reason: 'recvmsg ECONNREFUSED', rang: false, invited: true })
  // While the refusal is fresh nothing new is sent there.
  const next = await call(caller, peer.target)
  assert.equal(next.kind === 'unreachable' && next.invited, false)
})
