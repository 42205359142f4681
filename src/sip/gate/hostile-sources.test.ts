import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import type { Logger } from '../../runtime/logger.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { headerOf, type SipRequest } from '../message/message.ts'
import { tagOf } from '../message/headers.ts'
import { openRawSocket, rawRequest } from '../../../tests/support/sip/raw-socket.ts'
import { anySource, onlySource, type SipSources } from './sources.ts'
import { audioSdp, call, startAgent, startPeer } from '../../../tests/support/sip/test-agents.ts'
import { defaultTiming } from '../transaction/transaction-timing.ts'
import type { Dialog } from '../dialog/dialog.ts'

const methods = ['INVITE', 'OPTIONS', 'BYE', 'CANCEL', 'ACK', 'REGISTER', 'INFO', 'UNHEARD']
const loopbackOnly: SipSources = {
  admits: ({ address }) => address === '127.0.0.1',
  areOneTrunk: () => false,
}

const dialogOf = (result: Awaited<ReturnType<typeof call>>): Dialog => {
  if (result.kind !== 'answered') assert.fail(result.kind)
  return result.dialog
}

/** The parts of a request inside the dialog of our INVITE, as its other end would write them. */
const insideOf = (invite: SipRequest, tag: string) => ({
  sipCallId: headerOf(invite, 'call-id') ?? '',
  fromTag: tag,
  toTag: tagOf(invite, 'from') ?? '',
})

test('a stranger gets no byte for any datagram, and is counted', async (t) => {
  const lines: object[] = []
  const logger: Logger = { ...silentLogger, warn: (fields) => lines.push(fields) }
  const agent = await startAgent(t, { sources: loopbackOnly, logger })
  const [stranger, trunk] = [
    await openRawSocket(t, '127.0.0.2'),
    await openRawSocket(t, '127.0.0.1'),
  ]
  for (const method of methods) {
    await stranger.send(rawRequest({ method, from: stranger }), agent.localPort)
    await stranger.send(rawRequest({ method, from: stranger, toTag: 'x' }), agent.localPort)
  }
  for (const text of ['', '\r\n\r\n', 'INVITE', 'SIP/2.0 200 OK\r\n\r\n', 'A'.repeat(60_000)])
    await stranger.send(text, agent.localPort)
  await stranger.send(`OPTIONS sip:a SIP/7.0\r\nVia: x\r\n\r\n`, agent.localPort)
  await trunk.send(rawRequest({ method: 'OPTIONS', from: trunk }), agent.localPort)
  await trunk.heardAtLeast(1)
  assert.deepEqual(trunk.heard, ['SIP/2.0 200 OK'])
  assert.deepEqual(stranger.heard, [])
  await agent.stop(0)
  const strangers = { count: 2 * methods.length + 6, from: ['127.0.0.2'] }
  assert.deepEqual(lines, [{ stranger: strangers, period_seconds: 60 }])
})

test('the connection of a stranger is closed without a byte', async (t) => {
  const agent = await startAgent(t, { sources: loopbackOnly, listensOnTcp: true })
  const socket = connect({ host: '127.0.0.1', port: agent.localPort, localAddress: '127.0.0.2' })
  let bytes = 0
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
  socket.write('OPTIONS sip:a@127.0.0.1 SIP/2.0\r\n\r\n')
  // A reset is as good as an end.
  await once(socket, 'close').catch(() => {})
  assert.ok(socket.destroyed)
  assert.equal(bytes, 0)
})

test('stray requests of the trunk get one response, and an ACK never gets one', async (t) => {
  const time = createManualTime()
  const agent = await startAgent(t, { sources: loopbackOnly, time })
  const trunk = await openRawSocket(t, '127.0.0.1')
  const strays = ['INVITE', 'BYE', 'UPDATE', 'INFO'].map((method) =>
    rawRequest({ method, from: trunk, toTag: 'gone' }),
  )
  const unasked = rawRequest({ method: 'INVITE', from: trunk })
  const all = [...strays, rawRequest({ method: 'CANCEL', from: trunk }), unasked]
  await trunk.send(rawRequest({ method: 'ACK', from: trunk, toTag: 'gone' }), agent.localPort)
  for (const text of all) await trunk.send(text, agent.localPort)
  await trunk.heardAtLeast(all.length)
  time.advance(64_000)
  await trunk.send(rawRequest({ method: 'OPTIONS', from: trunk }), agent.localPort)
  await trunk.heardAtLeast(all.length + 1)
  const gone = 'SIP/2.0 481 Call/Transaction Does Not Exist'
  const expected = [gone, gone, gone, gone, gone, 'SIP/2.0 403 Forbidden', 'SIP/2.0 200 OK']
  assert.deepEqual(trunk.heard, expected)
})

test('an INVITE on a forged address of the trunk draws one small response, however it is refused', async (t) => {
  const time = createManualTime()
  const agent = await startAgent(t, { sources: loopbackOnly, time })
  agent.onInvite((incoming) => {
    incoming.reject(486, 'Busy Here')
  })
  const forged = await openRawSocket(t, '127.0.0.1')
  const other = await openRawSocket(t, '127.0.0.1')
  const invite = rawRequest({ method: 'INVITE', from: forged })
  await forged.send(invite, agent.localPort)
  await forged.heardAtLeast(1)
  time.advance(64_000)
  await other.send(rawRequest({ method: 'OPTIONS', from: other }), agent.localPort)
  await other.heardAtLeast(1)
  assert.deepEqual(forged.heard, ['SIP/2.0 486 Busy Here'])
})

test('a response counts only from the address of its request', async (t) => {
  const agent = await startAgent(t, { timing: defaultTiming })
  const [peer, stranger] = [await startPeer(t), await openRawSocket(t, '127.0.0.2')]
  const neighbour = await openRawSocket(t, '127.0.0.1')
  const placed = call(agent, peer.target, { credentials: { username: 'u', password: 'p' } })
  const invite = await peer.nextRequest('INVITE')
  const forged = [
    'SIP/2.0 407 Proxy Authentication Required',
    ...['via', 'from', 'call-id', 'cseq'].map((name) => `${name}: ${headerOf(invite, name) ?? ''}`),
    `To: ${headerOf(invite, 'to') ?? ''};tag=forged`,
    'Proxy-Authenticate: Digest realm="r", nonce="n", algorithm=MD5, qop="auth"',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n')
  await stranger.send(forged, agent.localPort)
  await neighbour.send(forged, agent.localPort)
  peer.reply(invite, 486)
  const result = await placed
  assert.equal(result.kind === 'refused' && result.response.status, 486)
  assert.equal(peer.heardOnce.filter((what) => what === 'INVITE').length, 1)
  assert.deepEqual([...stranger.heard, ...neighbour.heard], [])
})

test('another address of the same trunk may respond, from the same port', async (t) => {
  const addresses = new Set(['127.0.0.1', '127.0.0.2'])
  const agent = await startAgent(t, {
    sources: {
      ...anySource,
      areOneTrunk: (a, b) => addresses.has(a.address) && addresses.has(b.address),
    },
  })
  const peer = await startPeer(t)
  const second = await openRawSocket(t, '127.0.0.2', peer.port)
  const placed = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  const busy = [
    'SIP/2.0 486 Busy Here',
    ...['via', 'from', 'call-id', 'cseq'].map((name) => `${name}: ${headerOf(invite, name) ?? ''}`),
    `To: ${headerOf(invite, 'to') ?? ''};tag=second`,
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n')
  await second.send(busy, agent.localPort)
  const result = await placed
  assert.equal(result.kind === 'refused' && result.response.status, 486)
})

test('a dialog accepts its own peers and no other address', async (t) => {
  const lines: object[] = []
  const logger: Logger = { ...silentLogger, warn: (fields) => lines.push(fields) }
  const sources = onlySource('127.0.0.1', () => peer.port)
  const agent = await startAgent(t, { sources, logger })
  const peer = await startPeer(t)
  const [target, stranger] = [
    await openRawSocket(t, '127.0.0.3'),
    await openRawSocket(t, '127.0.0.4'),
  ]
  const placed = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 200, {
    toTag: 'theirs',
    body: audioSdp(),
    headers: [['record-route', `<sip:${target.address}:${target.port};lr>`]],
  })
  const ours = dialogOf(await placed)
  const inside = insideOf(invite, 'theirs')
  await target.heardAtLeast(1)
  assert.match(target.heard[0] ?? '', /^ACK /)
  const bye = { method: 'BYE', sequence: 7, ...inside }
  await stranger.send(rawRequest({ ...bye, from: stranger }), agent.localPort)
  // Its own peers may not send outside of it either.
  await target.send(rawRequest({ method: 'OPTIONS', from: target }), agent.localPort)
  await target.send(rawRequest({ ...bye, toTag: 'guessed', from: target }), agent.localPort)
  await target.send(rawRequest({ ...bye, method: 'INFO', from: target }), agent.localPort)
  await target.heardAtLeast(2)
  assert.deepEqual(target.heard.slice(1), ['SIP/2.0 200 OK'])
  await target.send(rawRequest({ ...bye, sequence: 8, from: target }), agent.localPort)
  assert.deepEqual(await ours.ended, { by: 'remote' })
  assert.deepEqual(stranger.heard, [])
  await agent.stop(0)
  const told = { count: 1, from: ['127.0.0.4'] }
  assert.deepEqual(
    lines.map((line) => ({ ...line })['stranger_in_call' as never]),
    [told],
  )
})

test('a genuine BYE is processed after 21,000 invented ones from the trunk’s own address', async (t) => {
  // Time stands still for the limits: only what one second admits gets a response.
  const time = createManualTime()
  const agent = await startAgent(t, { sources: loopbackOnly, maxUnknownPerSecond: 20, time })
  const [peer, flood] = [await startPeer(t), await openRawSocket(t, '127.0.0.1')]
  const placed = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 200, { toTag: 'theirs', body: audioSdp() })
  const ours = dialogOf(await placed)
  const { sipCallId } = insideOf(invite, 'theirs')
  for (let sent = 0; sent < 21_000; sent += 1) {
    // Half of them name this call, with unknown tags.
    const named = sent % 2 === 0 ? { sipCallId } : {}
    const toTag = `t${sent}`
    await flood.send(rawRequest({ method: 'BYE', from: flood, toTag, ...named }), agent.localPort)
    // Sender and receiver share this thread: the agent must read before the kernel's buffer is full.
    if (sent % 20 === 0) await setImmediate()
  }
  const bye = peer.request('BYE', invite, { tag: 'theirs', sequence: 2 })
  assert.deepEqual(await ours.ended, { by: 'remote' })
  assert.equal(bye.method, 'BYE')
  assert.equal(flood.heard.length, 20)
})
