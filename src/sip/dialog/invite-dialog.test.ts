import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { cseqOf } from '../message/headers.ts'
import { bodyText, emptyBody, headerOf, type SipRequest } from '../message/message.ts'
import { newBranch } from '../message/responses.ts'
import type { ScriptedPeer } from '../../../tests/support/sip/scripted-peer.ts'
import { createMediaNegotiator } from '../../sdp/sdp.ts'
import {
  audioSdp,
  call,
  localAudio,
  startAgent,
  startPeer,
} from '../../../tests/support/sip/test-agents.ts'
import type { Dialog } from './dialog.ts'

interface UpCall {
  readonly peer: ScriptedPeer
  readonly invite: SipRequest
  readonly dialog: Dialog
  readonly send: (method: string, sequence: number, body?: string) => SipRequest
}

/** A call from our agent that the scripted peer answered. */
const upCall = async (t: TestContext): Promise<UpCall> => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const result = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 200, { toTag: 'a', body: audioSdp() })
  await peer.nextRequest('ACK')
  const answered = await result
  assert.ok(answered.kind === 'answered')
  return {
    peer,
    invite,
    dialog: answered.dialog,
    send: (method, sequence, body) =>
      peer.request(method, invite, {
        tag: 'a',
        sequence,
        ...(body === undefined ? {} : { body }),
      }),
  }
}

test('a hold is answered with our own description, and the 200 repeated until its ACK', async (t) => {
  const { peer, dialog, send } = await upCall(t)
  const negotiator = createMediaNegotiator({ local: localAudio })
  dialog.onOffer((offer) => negotiator.answer(offer)?.sdp)
  send('INVITE', 1, audioSdp('sendonly'))
  const first = await peer.next('200 INVITE')
  assert.match(bodyText(first), /a=recvonly/)
  assert.match(headerOf(first, 'contact') ?? '', /<sip:outdial@127\.0\.0\.1:\d+>/)
  const repeated = await peer.nextRepeated('200 INVITE')
  assert.equal(bodyText(repeated), bodyText(first))
  send('ACK', 1)
  send('INVITE', 2, audioSdp('sendrecv'))
  const resumed = await peer.next('200 INVITE')
  assert.equal(cseqOf(resumed).sequence, 2)
  assert.match(bodyText(resumed), /a=sendrecv/)
  send('ACK', 2)
  assert.match(dialog.remoteSdp, /a=sendrecv/)
})

test('a re-INVITE without SDP gets our offer, and its ACK brings the answer', async (t) => {
  const { peer, dialog, send } = await upCall(t)
  const { promise: answer, resolve } = Promise.withResolvers<string>()
  const offer = audioSdp()
  dialog.onOfferRequest(() => offer, resolve)
  send('INVITE', 1)
  assert.equal(bodyText(await peer.next('200 INVITE')), offer)
  const theirs = audioSdp('sendonly')
  send('ACK', 1, theirs)
  assert.equal(await answer, theirs)
  assert.equal(dialog.remoteSdp, theirs)
})

test('a 200 to a re-INVITE that is never acknowledged ends the call', async (t) => {
  const { peer, dialog, send } = await upCall(t)
  dialog.onOffer(() => audioSdp())
  send('INVITE', 1, audioSdp())
  peer.reply(await peer.nextRequest('BYE'), 200)
  assert.deepEqual(await dialog.ended, { by: 'failure', reason: 'the 200 was never acknowledged' })
})

test('an unacceptable offer is refused with 488 and leaves the call unchanged', async (t) => {
  const { peer, dialog, send } = await upCall(t)
  const before = dialog.remoteSdp
  dialog.onOffer(() => undefined)
  send('INVITE', 1, 'v=0')
  await peer.next('488 INVITE')
  send('UPDATE', 2, 'v=0')
  await peer.next('488 UPDATE')
  assert.equal(dialog.remoteSdp, before)
})

test('an UPDATE with an offer is answered without ACK', async (t) => {
  const { peer, dialog, send } = await upCall(t)
  dialog.onOffer(() => 'v=0 ours')
  send('UPDATE', 1, audioSdp('sendonly'))
  assert.equal(bodyText(await peer.next('200 UPDATE')), 'v=0 ours')
})

test('a re-INVITE that crosses ours is refused with 491, and ours goes on', async (t) => {
  const { peer, dialog, send } = await upCall(t)
  dialog.onOffer(() => audioSdp())
  const ours = dialog.reinvite(audioSdp('sendonly'))
  const reinvite = await peer.nextRequest('INVITE')
  send('INVITE', 1, audioSdp())
  await peer.next('491 INVITE')
  peer.reply(reinvite, 200, { body: audioSdp() })
  assert.equal((await ours)?.status, 200)
  await peer.nextRequest('ACK')
})

test('the target changes with the Contact of a re-INVITE', async (t) => {
  const [agent, peer, elsewhere] = [await startAgent(t), await startPeer(t), await startPeer(t)]
  const result = call(agent, peer.target)
  const invite = await peer.nextRequest('INVITE')
  peer.reply(invite, 200, { toTag: 'a', body: audioSdp() })
  const answered = await result
  assert.ok(answered.kind === 'answered')
  answered.dialog.onOffer(() => audioSdp())
  const moved = peer.request('INVITE', invite, { tag: 'a', sequence: 1, body: audioSdp() })
  await peer.next('200 INVITE')
  const headers = moved.headers.map(([name, value]) =>
    name === 'contact'
      ? ([name, `<sip:new@127.0.0.1:${elsewhere.port}>`] as const)
      : ([name, value] as const),
  )
  const via = ['via', `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=${newBranch()}`] as const
  const next = { ...moved, headers: headers.map((header) => (header[0] === 'via' ? via : header)) }
  peer.send({
    ...next,
    headers: next.headers.map((header) =>
      header[0] === 'cseq' ? (['cseq', '2 INVITE'] as const) : header,
    ),
  })
  await peer.next('200 INVITE')
  void answered.dialog.bye()
  const bye = await elsewhere.nextRequest('BYE')
  assert.equal(bye.uri, `sip:new@127.0.0.1:${elsewhere.port}`)
  elsewhere.reply(bye, 200)
})

test('an old CSeq is refused, an unknown method is not allowed', async (t) => {
  const { peer, send } = await upCall(t)
  send('INFO', 5)
  await peer.next('200 INFO')
  send('INFO', 4)
  await peer.next('500 INFO')
  send('SUBSCRIBE', 6)
  const refused = await peer.next('405 SUBSCRIBE')
  assert.match(headerOf(refused, 'allow') ?? '', /INVITE/)
})

test('an unknown extension is refused with its name, except in a BYE', async (t) => {
  const { peer, invite, dialog, send } = await upCall(t)
  const requiring = (method: string, sequence: number, require: string): void =>
    void peer.request(method, invite, { tag: 'a', sequence, headers: [['require', require]] })
  requiring('UPDATE', 1, 'timer, precondition')
  const refused = await peer.next('420 UPDATE')
  assert.equal(headerOf(refused, 'unsupported'), 'precondition')
  requiring('UPDATE', 2, 'timer, 100rel')
  await peer.next('200 UPDATE')
  send('INVITE', 3)
  await peer.next('200 INVITE')
  send('ACK', 3)
  requiring('BYE', 4, 'precondition')
  await peer.next('200 BYE')
  assert.equal((await dialog.ended).by, 'remote')
})

test('BYE from both sides at once is answered on both, and ends once', async (t) => {
  const { peer, dialog, send } = await upCall(t)
  void dialog.bye()
  const bye = await peer.nextRequest('BYE')
  send('BYE', 1)
  await peer.next('200 BYE')
  peer.reply(bye, 481)
  assert.equal((await dialog.ended).by, 'local')
  send('INFO', 2)
  await peer.next('481 INFO')
})

const outside = (peer: ScriptedPeer, method: string, headers: SipRequest['headers'] = []) => ({
  kind: 'request' as const,
  method,
  uri: `sip:outdial@127.0.0.1`,
  headers: [
    ['via', `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=${newBranch()};rport`] as const,
    ['from', '<sip:peer@example.com>;tag=p'] as const,
    ['to', '<sip:outdial@example.com>'] as const,
    ['call-id', newBranch()] as const,
    ['cseq', `1 ${method}`] as const,
    ...headers,
  ],
  body: emptyBody,
})

test('requests outside any dialog get the responses of RFC 3261 8.2', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  const pinged = agent.ping(peer.target, 1000)
  peer.reply(await peer.nextRequest('OPTIONS'), 200)
  await pinged
  const cases = [
    { send: outside(peer, 'OPTIONS'), answer: '200 OPTIONS' },
    { send: outside(peer, 'BYE'), answer: '481 BYE' },
    { send: outside(peer, 'CANCEL'), answer: '481 CANCEL' },
    { send: outside(peer, 'REGISTER'), answer: '405 REGISTER' },
    { send: outside(peer, 'FROBNICATE'), answer: '501 FROBNICATE' },
    { send: { ...outside(peer, 'OPTIONS'), uri: 'soap:x' }, answer: '416 OPTIONS' },
    { send: outside(peer, 'INVITE', [['require', 'precondition']]), answer: '420 INVITE' },
    {
      send: {
        ...outside(peer, 'INVITE', [['content-type', 'text/plain']]),
        body: Buffer.from('hello'),
      },
      answer: '415 INVITE',
    },
    {
      send: outside(peer, 'INVITE', [
        ['session-expires', '30'],
        ['supported', 'timer'],
      ]),
      answer: '422 INVITE',
    },
    { send: outside(peer, 'INVITE'), answer: '403 INVITE' },
  ]
  for (const { send, answer } of cases) {
    peer.send(send)
    await peer.next(answer)
  }
})

test('the same INVITE on two paths is accepted once, the other is a loop', async (t) => {
  const [agent, peer] = [await startAgent(t), await startPeer(t)]
  let taken = 0
  agent.onInvite((incoming) => {
    taken += 1
    incoming.provisional(180, 'Ringing')
  })
  const pinged = agent.ping(peer.target, 1000)
  peer.reply(await peer.nextRequest('OPTIONS'), 200)
  await pinged
  const invite = outside(peer, 'INVITE')
  peer.send(invite)
  await peer.next('180 INVITE')
  const [, ...rest] = invite.headers
  const via = ['via', `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=${newBranch()}`] as const
  peer.send({ ...invite, headers: [via, ...rest] })
  await peer.next('482 INVITE')
  assert.equal(taken, 1)
})
