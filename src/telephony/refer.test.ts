import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  emptyBody,
  type Header,
  type SipRequest,
  type SipResponse,
} from '../sip/message/message.ts'
import type { Dialog } from '../sip/dialog/dialog.ts'
import { parseSipfrag, refer, referTargetOf } from './refer.ts'

/** A dialog whose other side follows the test. */
const createPeer = () => {
  const ended = Promise.withResolvers<Awaited<Dialog['ended']>>()
  const answer = Promise.withResolvers<SipResponse | undefined>()
  const sent: { method: string; headers: Readonly<Record<string, string>> | undefined }[] = []
  let onNotify: (request: SipRequest) => number = () => assert.fail('nobody listens for NOTIFY')
  const dialog: Dialog = {
    sipCallId: 'sip-call',
    remoteSdp: '',
    onOffer: () => {},
    onOfferRequest: () => {},
    onRequest: (_method, listener) => {
      onNotify = listener
    },
    reinvite: () => assert.fail('no re-INVITE is needed'),
    bye: () => assert.fail('a transfer hangs up nothing'),
    request: (method, { headers }) => {
      sent.push({ method, headers })
      return answer.promise
    },
    ended: ended.promise,
  }
  return {
    dialog,
    sent,
    end: ended.resolve,
    answer: (status: number, headers: Header[] = []) =>
      answer.resolve({
        kind: 'response',
        status,
        reason: status === 202 ? 'Accepted' : 'Decline',
        headers,
        body: emptyBody,
      }),
    silence: () => answer.resolve(undefined),
    notify: (body: string, state = 'active', event = 'refer') =>
      onNotify({
        kind: 'request',
        method: 'NOTIFY',
        uri: 'sip:us',
        headers: [
          ['event', event],
          ['subscription-state', state],
        ],
        body: Buffer.from(body),
      }),
  }
}

const options = { target: 'sip:+12025550177@trunk', referredBy: 'sip:+12025550199@trunk' }

test('the REFER contains the target and the referrer', async () => {
  const peer = createPeer()
  const outcome = refer(peer.dialog, options)
  peer.answer(202)
  peer.notify('SIP/2.0 200 OK\r\n')
  assert.deepEqual(await outcome, { kind: 'transferred' })
  assert.deepEqual(peer.sent, [
    {
      method: 'REFER',
      headers: {
        'Refer-To': '<sip:+12025550177@trunk>',
        'Referred-By': '<sip:+12025550199@trunk>',
      },
    },
  ])
})

test('a target that is more than an address is never sent', async () => {
  for (const target of [
    'sip:100@trunk>;x=<sip:900@trunk',
    'sip:100@trunk?Replaces=1',
    'sip:100;phone-context=+1900@trunk',
    'sip:100@trunk;method=INVITE',
    'sip:%2b1900@trunk',
    'sip:100@trunk\r\nX: y',
    'tel:+12025550177',
  ]) {
    const peer = createPeer()
    const outcome = await refer(peer.dialog, { ...options, target })
    assert.equal(outcome.kind, 'refused', target)
    assert.deepEqual(peer.sent, [])
  }
})

test('progress gets 200 and is not the final result', async () => {
  const peer = createPeer()
  const outcome = refer(peer.dialog, options)
  peer.answer(202)
  for (const line of ['SIP/2.0 100 Trying', 'SIP/2.0 180 Ringing', '']) {
    assert.equal(peer.notify(line), 200)
  }
  assert.equal(peer.notify('SIP/2.0 200 OK', 'active', 'presence'), 200)
  peer.notify('SIP/2.0 486 Busy Here', 'terminated;reason=noresource')
  assert.deepEqual(await outcome, {
    kind: 'refused',
    sipStatus: 486,
    reason: 'SIP 486 Busy Here',
  })
})

test('a NOTIFY that overtakes the 202 is not lost', async () => {
  const peer = createPeer()
  const outcome = refer(peer.dialog, options)
  peer.notify('SIP/2.0 200 OK', 'terminated')
  peer.answer(202)
  assert.deepEqual(await outcome, { kind: 'transferred' })
})

test('a carrier that takes the callee away has transferred the call', async () => {
  const peer = createPeer()
  const outcome = refer(peer.dialog, options)
  peer.answer(202)
  await new Promise((resolve) => setImmediate(resolve))
  peer.end({ by: 'remote' })
  assert.deepEqual(await outcome, { kind: 'transferred' })
})

test('a carrier that announces no notification is trusted at its 202', async () => {
  const peer = createPeer()
  const outcome = refer(peer.dialog, options)
  peer.answer(202, [['refer-sub', 'false']])
  assert.deepEqual(await outcome, { kind: 'transferred' })
})

test('a refusal, a silence, and a subscription that ends without a status are no transfer', async () => {
  const refusing = createPeer()
  const refusal = refer(refusing.dialog, options)
  refusing.answer(603)
  assert.deepEqual(await refusal, { kind: 'refused', sipStatus: 603, reason: 'SIP 603 Decline' })

  const silent = createPeer()
  const silence = refer(silent.dialog, options)
  silent.silence()
  assert.equal((await silence).kind, 'refused')

  const givingUp = createPeer()
  const end = refer(givingUp.dialog, options)
  givingUp.answer(202)
  givingUp.notify('SIP/2.0 100 Trying', 'terminated;reason=timeout')
  assert.equal((await end).kind, 'refused')
})

test('the wait for the final result ends at a limit, or when the call fails', async () => {
  const late = createPeer()
  const outcome = refer(late.dialog, { ...options, answerTimeoutMs: 20 })
  late.answer(202)
  assert.deepEqual(await outcome, {
    kind: 'refused',
    reason: 'The transfer was not answered in time.',
  })
  const broken = createPeer()
  const failure = refer(broken.dialog, options)
  broken.answer(202)
  broken.end({ by: 'failure', reason: 'SIP 481' })
  assert.deepEqual(await failure, { kind: 'refused', reason: 'The call ended.' })
})

test('the status line of a sipfrag is read, whatever follows it', () => {
  assert.deepEqual(parseSipfrag('SIP/2.0 503 Service Unavailable\r\nRetry-After: 5\r\n'), {
    status: 503,
    reason: 'Service Unavailable',
  })
  assert.deepEqual(parseSipfrag('SIP/2.0 200\r\n'), { status: 200, reason: '' })
  for (const body of ['', 'hello', 'SIP/2.0 999 No', 'SIP/3.0 200 OK', 'SIP/2.0 20']) {
    assert.equal(parseSipfrag(body), undefined, body)
  }
})

test('Refer-To is read with and without brackets', () => {
  const request = (value: string): SipRequest => ({
    kind: 'request',
    method: 'REFER',
    uri: 'sip:us',
    headers: [['refer-to', value]],
    body: emptyBody,
  })
  assert.equal(referTargetOf(request('"Desk" <sip:desk@example.com>')), 'sip:desk@example.com')
  assert.equal(referTargetOf(request('sip:desk@example.com')), 'sip:desk@example.com')
  assert.equal(referTargetOf(request('desk')), undefined)
})
