import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { cseqOf } from '../message/headers.ts'
import { bodyText, headerOf, headersOf } from '../message/message.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { audioSdp, call, startAgent, startPeer } from '../../../tests/support/sip/test-agents.ts'
import { toTagOf, type ScriptedPeer } from '../../../tests/support/sip/scripted-peer.ts'
import { defaultTiming } from '../transaction/transaction-timing.ts'
import type { UserAgent } from './user-agent-types.ts'
import { createDigestServer } from '../digest/digest-server.ts'

test('CANCEL waits for a provisional response, then goes out with the branch of its INVITE', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const abort = new AbortController()
  const result = call(agent, peer.target, {}, abort.signal)
  const invite = await peer.nextRequest('INVITE')
  abort.abort()
  assert.ok(!peer.heard.includes('CANCEL'))
  peer.reply(invite, 100)
  const cancel = await peer.nextRequest('CANCEL')
  for (const name of ['via', 'from', 'to', 'call-id'])
    assert.equal(headerOf(cancel, name), headerOf(invite, name))
  assert.deepEqual(cseqOf(cancel), { sequence: 1, method: 'CANCEL' })
  peer.reply(cancel, 200, { toTag: 'a' })
  peer.reply(invite, 487, { toTag: 'a' })
  await peer.nextRequest('ACK')
  assert.deepEqual(await result, { kind: 'cancelled', rang: false, invited: true })
})

test('a 200 that crosses the CANCEL is acknowledged and hung up', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const abort = new AbortController()
  const result = call(agent, peer.target, {}, abort.signal)
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 180, { toTag: 'a' })
  // The abort comes with the 180, and the 200 is already on its way.
  const cancelled = peer.nextRequest('CANCEL')
  abort.abort()
  peer.reply(invite, 200, { toTag: 'a', body: audioSdp() })
  peer.reply(await cancelled, 481)
  assert.equal(toTagOf(await peer.nextRequest('ACK')), 'a')
  const bye = await peer.nextRequest('BYE')
  peer.reply(bye, 200)
  assert.deepEqual(await result, { kind: 'cancelled', rang: true, invited: true })
})

test('an INVITE that is abandoned before any response is not repeated, and a late 180 is cancelled', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target, { responseTimeoutMs: 40 })
  const invite = await peer.nextRequest('INVITE')
  assert.equal((await result).kind, 'unreachable')
  const copies = peer.heard.length
  peer.reply(invite, 180, { toTag: 'a' })
  await peer.nextRequest('CANCEL')
  assert.equal(peer.heard.filter((what) => what === 'INVITE').length, copies)
})

test('an INVITE that is abandoned before any response and answered late is hung up', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target, { responseTimeoutMs: 40 })
  const invite = await peer.nextRequest('INVITE')
  await result
  peer.reply(invite, 200, { toTag: 'a', body: audioSdp() })
  await peer.nextRequest('ACK')
  peer.reply(await peer.nextRequest('BYE'), 200)
})

test('a peer that ignores CANCEL does not keep the caller waiting', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target, { ringTimeoutMs: 300 })
  peer.reply(await peer.nextRequest('INVITE'), 180, { toTag: 'a' })
  await peer.nextRequest('CANCEL')
  assert.deepEqual(await result, { kind: 'ring_timeout', rang: true })
})

test('a busy response that crosses the CANCEL decides the outcome', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target, { ringTimeoutMs: 300 })
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 180, { toTag: 'a' })
  await peer.nextRequest('CANCEL')
  peer.reply(invite, 486, { toTag: 'a' })
  const ended = await result
  assert.equal(ended.kind === 'refused' && ended.response.status, 486)
})

test('a repeated 200 is acknowledged again, a forked one is also hung up', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 180, { toTag: 'a' })
  peer.reply(invite, 180, { toTag: 'b' })
  peer.reply(invite, 200, { toTag: 'b', body: audioSdp() })
  assert.equal(toTagOf(await peer.nextRequest('ACK')), 'b')
  peer.reply(invite, 200, { toTag: 'b', body: audioSdp() })
  assert.equal(toTagOf(await peer.nextRequest('ACK')), 'b')
  peer.reply(invite, 200, { toTag: 'a', body: audioSdp() })
  assert.equal(toTagOf(await peer.nextRequest('ACK')), 'a')
  const bye = await peer.nextRequest('BYE')
  assert.equal(toTagOf(bye), 'a')
  peer.reply(bye, 200)
  const answered = await result
  assert.ok(answered.kind === 'answered')
  peer.reply(await byeOf(answered.dialog, peer), 200)
})

for (const recorded of [180, 200]) {
  test(`the route of the 200 counts if only the ${recorded} told one (RFC 3261 13.2.2.4)`, async (t) => {
    const [agent, peer, proxy] = [await startAgent(t), await startPeer(t), await startPeer(t)]
    const result = call(agent, peer.target)
    const invite = await peer.nextRequest('INVITE')
    const route = `<sip:127.0.0.1:${proxy.port};lr>`
    for (const status of [180, 200]) {
      const headers = status === recorded ? [['record-route', route] as const] : []
      const body = status === 200 ? { body: audioSdp() } : {}
      peer.reply(invite, status, { toTag: 'a', headers, ...body })
    }
    const [next, routes] = recorded === 200 ? [proxy, [route]] : [peer, []]
    assert.deepEqual(headersOf(await next.nextRequest('ACK'), 'route'), routes)
    const answered = await result
    assert.ok(answered.kind === 'answered')
    const bye = await byeOf(answered.dialog, next)
    assert.deepEqual(headersOf(bye, 'route'), routes)
    assert.equal(bye.uri, `sip:peer@127.0.0.1:${peer.port}`)
    next.reply(bye, 200)
  })
}

const byeOf = (dialog: { bye(): Promise<void> }, peer: Awaited<ReturnType<typeof startPeer>>) => {
  void dialog.bye()
  return peer.nextRequest('BYE')
}

test('ACK and BYE follow the Record-Route, and go to the Contact of the answer', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  const own = `<sip:127.0.0.1:${peer.port};lr>`
  const headers = [
    ['record-route', '<sip:192.0.2.99;lr>'],
    ['record-route', own],
  ] as const
  peer.reply(invite, 200, { toTag: 'a', headers, body: audioSdp() })
  const ack = await peer.nextRequest('ACK')
  assert.deepEqual(headersOf(ack, 'route'), [own, '<sip:192.0.2.99;lr>'])
  assert.equal(ack.uri, `sip:peer@127.0.0.1:${peer.port}`)
  assert.notEqual(headerOf(ack, 'via'), headerOf(invite, 'via'))
  const answered = await result
  assert.ok(answered.kind === 'answered')
  const bye = await byeOf(answered.dialog, peer)
  assert.deepEqual(headersOf(bye, 'route'), [own, '<sip:192.0.2.99;lr>'])
  peer.reply(bye, 200)
})

test('a strict router gets the target as its last route (RFC 3261 12.2.1.1)', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  const headers = [['record-route', `<sip:127.0.0.1:${peer.port}>`]] as const
  peer.reply(invite, 200, { toTag: 'a', headers, body: audioSdp() })
  const ack = await peer.nextRequest('ACK')
  assert.equal(ack.uri, `sip:127.0.0.1:${peer.port}`)
  assert.deepEqual(headersOf(ack, 'route'), [`<sip:peer@127.0.0.1:${peer.port}>`])
  const answered = await result
  assert.ok(answered.kind === 'answered')
  peer.reply(await byeOf(answered.dialog, peer), 200)
})

test('reliable provisional responses are acknowledged once each, in order, with the shared CSeq', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const statuses: number[] = []
  const result = call(agent, peer.target, { onProvisional: ({ status }) => statuses.push(status) })
  const invite = await peer.nextRequest('INVITE')
  const early = audioSdp()
  const reliable = (rseq: number, status: number): void =>
    peer.reply(invite, status, {
      toTag: 'a',
      headers: [
        ['require', '100rel'],
        ['rseq', String(rseq)],
      ],
      body: early,
    })
  reliable(8001, 183)
  const first = await peer.nextRequest('PRACK')
  assert.equal(headerOf(first, 'rack'), '8001 1 INVITE')
  assert.equal(cseqOf(first).sequence, 2)
  peer.reply(first, 200)
  reliable(8001, 183)
  reliable(8003, 180)
  reliable(8002, 180)
  const second = await peer.nextRequest('PRACK')
  assert.equal(headerOf(second, 'rack'), '8002 1 INVITE')
  peer.reply(second, 200)
  peer.reply(invite, 200, { toTag: 'a' })
  const answered = await result
  assert.ok(answered.kind === 'answered')
  assert.equal(answered.dialog.remoteSdp, early)
  assert.deepEqual(statuses, [183, 180])
  const bye = await byeOf(answered.dialog, peer)
  assert.equal(cseqOf(bye).sequence, 4)
  peer.reply(bye, 200)
})

test('early media moves by UPDATE, once it was negotiated, and stays there', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const ours = audioSdp('sendonly')
  const result = call(agent, peer.target, { onEarlyOffer: () => ours })
  const invite = await peer.nextRequest('INVITE')
  const update = (sequence: number, body?: string): void =>
    void peer.request('UPDATE', invite, {
      tag: 'a',
      sequence,
      ...(body === undefined ? {} : { body }),
    })
  peer.reply(invite, 180, { toTag: 'a' })
  update(1, audioSdp())
  await peer.next('491 UPDATE')
  update(2)
  assert.equal(bodyText(await peer.next('200 UPDATE')), '')
  const answer = audioSdp()
  const headers = [
    ['require', '100rel'],
    ['rseq', '1'],
  ] as const
  peer.reply(invite, 183, { toTag: 'a', headers, body: answer })
  peer.reply(await peer.nextRequest('PRACK'), 200)
  const moved = audioSdp()
  assert.notEqual(moved, answer)
  update(3, moved)
  assert.equal(bodyText(await peer.next('200 UPDATE')), ours)
  peer.reply(invite, 200, { toTag: 'a', body: answer })
  const answered = await result
  assert.ok(answered.kind === 'answered')
  assert.equal(answered.dialog.remoteSdp, moved)
  peer.reply(await byeOf(answered.dialog, peer), 200)
})

test('422 leads to the requested interval', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target)
  const first = await peer.nextRequest('INVITE')
  peer.reply(first, 422, { toTag: 'a', headers: [['min-se', '3600']] })
  const second = await peer.nextRequest('INVITE')
  assert.equal(headerOf(second, 'session-expires'), '3600')
  assert.equal(headerOf(second, 'min-se'), '3600')
  assert.equal(headerOf(second, 'call-id'), headerOf(first, 'call-id'))
  peer.reply(second, 422, { toTag: 'a', headers: [['min-se', '3600']] })
  const ended = await result
  assert.equal(ended.kind === 'refused' && ended.response.status, 422)
})

test('a challenge after ringing is not answered: a second INVITE would ring a second time', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const credentials = { username: 'trunk', password: 's3cret' }
  const result = call(agent, peer.target, { credentials })
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 180, { toTag: 'a' })
  const challenge = createDigestServer(credentials, { realm: 'r' }).challenge()
  peer.reply(invite, 401, { toTag: 'b', headers: [['www-authenticate', challenge]] })
  const ended = await result
  assert.equal(ended.kind === 'refused' && ended.response.status, 401)
  assert.equal(ended.kind === 'refused' && ended.rang, true)
})

test('a server that keeps calling the nonce stale is given up', async (t) => {
  const [agent, peer] = [await startAgent(t, { timing: defaultTiming }), await startPeer(t)]
  const credentials = { username: 'trunk', password: 's3cret' }
  const result = call(agent, peer.target, { credentials })
  const server = createDigestServer(credentials, { realm: 'r' })
  for (let asked = 0; asked < 5; asked += 1) {
    const invite = await peer.nextRequest('INVITE')
    const challenge = `${server.challenge()}, stale=true`
    peer.reply(invite, 407, { toTag: 'a', headers: [['proxy-authenticate', challenge]] })
  }
  assert.equal((await result).kind, 'refused')
})

test('a lease lost between challenge and answer sends nothing more', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const credentials = { username: 'trunk', password: 's3cret' }
  let asked = 0
  const maySend = (): boolean => (asked += 1) === 1
  const result = call(agent, peer.target, { credentials, maySend })
  const invite = await peer.nextRequest('INVITE')
  const challenge = createDigestServer(credentials, { realm: 'r' }).challenge()
  peer.reply(invite, 401, { toTag: 'b', headers: [['www-authenticate', challenge]] })
  assert.deepEqual(await result, { kind: 'cancelled', rang: false, invited: true })
  assert.equal(peer.heardOnce.filter((what) => what === 'INVITE').length, 1)
})

test('a redirection is reported, not followed', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 302, { toTag: 'a', headers: [['contact', '<sip:elsewhere@127.0.0.1:9>']] })
  await peer.nextRequest('ACK')
  const ended = await result
  assert.equal(ended.kind === 'refused' && ended.response.status, 302)
})

test('a challenged BYE is answered with the credentials of the call, and its counter rises', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const credentials = { username: 'trunk', password: 's3cret' }
  const server = createDigestServer(credentials, { realm: 'r' })
  const result = call(agent, peer.target, { credentials })
  const plain = await peer.nextRequest('INVITE')
  peer.reply(plain, 407, { toTag: 'a', headers: [['proxy-authenticate', server.challenge()]] })
  const invite = await peer.nextRequest('INVITE')
  const proof = headerOf(invite, 'proxy-authorization')
  assert.ok(server.verify(proof, invite))
  peer.reply(invite, 200, { toTag: 'b', body: audioSdp() })
  const acks = [await peer.nextRequest('ACK'), await peer.nextRequest('ACK')]
  const ackOf200 = acks.find((ack) => toTagOf(ack) === 'b')
  assert.equal(headerOf(ackOf200 ?? plain, 'proxy-authorization'), proof)
  const answered = await result
  assert.ok(answered.kind === 'answered')
  const bye = await byeOf(answered.dialog, peer)
  assert.ok(server.verify(headerOf(bye, 'proxy-authorization'), bye))
  peer.reply(bye, 407, { headers: [['proxy-authenticate', server.challenge()]] })
  const again = await peer.nextRequest('BYE')
  assert.ok(server.verify(headerOf(again, 'proxy-authorization'), again))
  assert.equal(cseqOf(again).sequence, cseqOf(bye).sequence + 1)
  peer.reply(again, 200)
  assert.deepEqual(await answered.dialog.ended, { by: 'local' })
})

const upCall = async (t: TestContext, sessionExpires: string, allow = 'INVITE, BYE') => {
  const time = createManualTime()
  const [agent, peer] = [await startAgent(t, { time }), await startPeer(t)]
  const result = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  const headers = [
    ['session-expires', sessionExpires],
    ['allow', allow],
  ] as const
  peer.reply(invite, 200, { toTag: 'a', headers, body: audioSdp() })
  await peer.nextRequest('ACK')
  const answered = await result
  assert.ok(answered.kind === 'answered')
  return { time, agent, peer, invite, dialog: answered.dialog }
}

test('as refresher we refresh at half the interval: by UPDATE if the peer supports it', async (t) => {
  const { time, agent, peer } = await upCall(t, '1800;refresher=uac', 'INVITE, BYE, UPDATE')
  time.advance(899_999)
  assert.ok(!peer.heard.includes('UPDATE'))
  for (let round = 0; round < 2; round += 1) {
    time.advance(round === 0 ? 1 : 900_000)
    const update = await peer.nextRequest('UPDATE')
    assert.match(headerOf(update, 'session-expires') ?? '', /^1800;refresher=uac$/)
    peer.reply(update, 200, { headers: [['session-expires', '1800;refresher=uac']] })
    await roundTrip(agent, peer)
  }
  assert.ok(!peer.heard.includes('BYE'))
})

test('as refresher we refresh by re-INVITE with the same SDP if UPDATE is not supported', async (t) => {
  const { time, peer, invite } = await upCall(t, '1800')
  time.advance(900_000)
  const refresh = await peer.nextRequest('INVITE')
  assert.equal(refresh.body.toString(), invite.body.toString())
  peer.reply(refresh, 200, { headers: [['session-expires', '1800']], body: audioSdp() })
  await peer.nextRequest('ACK')
})

test('a refresh without a response ends the call', async (t) => {
  const { time, peer, dialog } = await upCall(t, '1800')
  time.advance(900_000)
  const refresh = await peer.nextRequest('INVITE')
  peer.reply(refresh, 481)
  await peer.nextRequest('BYE')
  assert.equal((await dialog.ended).by, 'failure')
})

test("when the peer's refresh is missing the call ends a little before the interval", async (t) => {
  const { time, peer, dialog, invite } = await upCall(t, '1800;refresher=uas')
  time.advance(1_767_000)
  const headers = [
    ['session-expires', '1800;refresher=uac'],
    ['supported', 'timer'],
  ] as const
  const update = peer.request('UPDATE', invite, { tag: 'a', sequence: 1, headers })
  const answer = await peer.next('200 UPDATE')
  assert.equal(headerOf(answer, 'session-expires'), '1800;refresher=uac')
  assert.equal(headerOf(answer, 'require'), 'timer')
  assert.equal(update.method, 'UPDATE')
  time.advance(1_767_999)
  assert.ok(!peer.heard.includes('BYE'))
  time.advance(1)
  await peer.nextRequest('BYE')
  assert.deepEqual(await dialog.ended, { by: 'failure', reason: 'the session timer expired' })
})

test('a refresh with too short an interval is refused with our minimum', async (t) => {
  const { peer, invite } = await upCall(t, '1800')
  const headers = [
    ['session-expires', '30'],
    ['supported', 'timer'],
  ] as const
  peer.request('UPDATE', invite, { tag: 'a', sequence: 1, headers })
  const refusal = await peer.next('422 UPDATE')
  assert.equal(headerOf(refusal, 'min-se'), '90')
})

/**
 * Datagrams of one pair of sockets keep their order: a response to this proves that everything before it took
 * effect.
 */
const roundTrip = async (agent: UserAgent, peer: ScriptedPeer): Promise<void> => {
  const answered = agent.ping(peer.target, 5000)
  peer.reply(await peer.nextRequest('OPTIONS'), 200)
  await answered
}
