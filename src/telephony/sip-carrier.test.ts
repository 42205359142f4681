import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { silentLogger } from '../runtime/logger.ts'
import { createDigestServer } from '../sip/digest/digest-server.ts'
import { bodyText, headerOf } from '../sip/message/message.ts'
import { createMediaNegotiator, type AgreedAudio } from '../sdp/sdp.ts'
import { anySource } from '../sip/gate/sources.ts'
import { createUserAgent } from '../sip/user-agent/user-agent.ts'
import type { IncomingInvite, UserAgent } from '../sip/user-agent/user-agent-types.ts'
import type { Dialog } from '../sip/dialog/dialog.ts'
import type { CallLeg, DialOutcome, DialProgress, DialRequest, NegotiatedMedia } from './carrier.ts'
import { createSipCarrier, type SipCarrier, type SipCarrierOptions } from './sip-carrier.ts'
import { parseTrunkUri } from './trunk-uri.ts'

const startAgent = async (t: TestContext): Promise<UserAgent> => {
  const timing = { t1Ms: 25, t2Ms: 200, t4Ms: 100 }
  const agent = createUserAgent({ sources: anySource, bindAddress: '127.0.0.1', timing })
  await agent.start()
  t.after(() => agent.stop(50))
  return agent
}

interface Network {
  readonly carrier: SipCarrier
  readonly callee: UserAgent
}

/** Our carrier and, as its trunk, a user agent that the test controls. */
const connect = async (
  t: TestContext,
  userInfo = '',
  options: Partial<SipCarrierOptions> = {},
): Promise<Network> => {
  const [userAgent, callee] = [await startAgent(t), await startAgent(t)]
  const trunk = parseTrunkUri(`sip:${userInfo}127.0.0.1:${callee.localPort}`)
  const carrier = createSipCarrier({ userAgent, trunk, logger: silentLogger, ...options })
  return { carrier, callee }
}

const dial = (
  { carrier }: Network,
  request: Partial<DialRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<DialOutcome> =>
  carrier.dial(
    {
      callId: '0198f000-0000-7000-8000-000000000001',
      to: '+12025550100',
      callerId: '+12025550199',
      ringTimeoutMs: 5000,
      localMedia: { address: '127.0.0.1', port: 40_000 },
      mayInvite: () => true,
      ...request,
    },
    signal,
  )

const legOf = (outcome: DialOutcome): CallLeg => {
  if (outcome.kind !== 'answered') assert.fail(outcome.failure.reason)
  return outcome.leg
}

const failureOf = (outcome: DialOutcome) => {
  if (outcome.kind !== 'failed') assert.fail('the call was answered')
  return outcome.failure
}

const calleeMedia = { address: '127.0.0.1', port: 50_000 }

/** Answers every call; returns the dialog and the received offer. */
const answers = (callee: UserAgent) => {
  const { promise, resolve } = Promise.withResolvers<{ dialog: Dialog; incoming: IncomingInvite }>()
  callee.onInvite((incoming) => {
    const answer = createMediaNegotiator({ local: calleeMedia }).answer(incoming.offer ?? '')
    incoming.provisional(180, 'Ringing')
    void incoming.accept(answer?.sdp ?? '').then((dialog) => {
      if (dialog !== undefined) resolve({ dialog, incoming })
    })
  })
  return promise
}

test('an answered call gives a leg with the negotiated media', async (t) => {
  const network = await connect(t)
  const answered = answers(network.callee)
  const progress: DialProgress['kind'][] = []
  const leg = legOf(await dial(network, { onProgress: ({ kind }) => progress.push(kind) }))
  assert.deepEqual(leg.media, {
    remote: calleeMedia,
    codec: 'pcmu',
    payloadType: 0,
    telephoneEventPayloadType: 101,
    ownTelephoneEventPayloadType: 101,
    direction: 'sendrecv',
  } satisfies AgreedAudio)
  // 100 would come after 200 ms without another response.
  assert.deepEqual(progress, ['ringing'])
  const { incoming, dialog } = await answered
  assert.equal(incoming.request.uri, `sip:+12025550100@127.0.0.1:${network.callee.localPort}`)
  assert.match(headerOf(incoming.request, 'from') ?? '', /^<sip:\+12025550199@127\.0\.0\.1>;tag=/)
  assert.equal(headerOf(incoming.request, 'x-outdial-call-id'), undefined)
  await leg.hangUp()
  assert.deepEqual(await leg.ended, { by: 'us' })
  assert.deepEqual(await dialog.ended, { by: 'remote' })
})

test('the callee hangs up', async (t) => {
  const network = await connect(t)
  const answered = answers(network.callee)
  const leg = legOf(await dial(network))
  await (await answered).dialog.bye()
  assert.deepEqual(await leg.ended, { by: 'callee' })
})

test('hold, resume and a move to another address reach the listener', async (t) => {
  const network = await connect(t)
  const answered = answers(network.callee)
  const leg = legOf(await dial(network))
  const { dialog } = await answered
  const heard: NegotiatedMedia[] = []
  leg.onMediaChange((media) => heard.push(media))
  const there = createMediaNegotiator({ local: calleeMedia })
  const held = await dialog.reinvite(there.offer('sendonly'))
  assert.equal(leg.media.direction, 'recvonly')
  assert.match(held === undefined ? '' : bodyText(held), /a=recvonly/)
  await dialog.reinvite(there.offer('sendrecv'))
  const moved = createMediaNegotiator({ local: { address: '127.0.0.2', port: 50_002 } })
  await dialog.reinvite(moved.offer())
  assert.deepEqual(leg.media.remote, { address: '127.0.0.2', port: 50_002 })
  assert.deepEqual(
    heard.map(({ direction }) => direction),
    ['recvonly', 'sendrecv', 'sendrecv'],
  )
  await leg.hangUp()
})

test('keys come by INFO where RTP carries none, and only there', async (t) => {
  const network = await connect(t)
  const press = async (sdp: string): Promise<string[]> => {
    const { promise, resolve } = Promise.withResolvers<Dialog | undefined>()
    network.callee.onInvite((incoming) => void incoming.accept(sdp).then(resolve))
    const leg = legOf(await dial(network))
    const digits: string[] = []
    leg.onDigit((digit) => digits.push(digit))
    const dialog = await promise
    for (const [type, body] of [
      ['application/dtmf-relay', 'Signal= 4\r\nDuration=160\r\n'],
      ['application/dtmf', '2'],
      ['application/dtmf-relay', 'Signal=11\r\n'],
      ['application/dtmf-relay', 'Signal=99\r\n'],
      ['application/media_control+xml', '<x/>'],
    ]) {
      const options = { headers: { 'Content-Type': type ?? '' }, body: body ?? '' }
      assert.equal((await dialog?.request('INFO', options))?.status, 200)
    }
    await leg.hangUp()
    return digits
  }
  const plain =
    'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 5000 RTP/AVP 0'
  assert.deepEqual(await press(`${plain}\r\n`), ['4', '2', '#'])
  assert.deepEqual(await press(`${plain} 101\r\na=rtpmap:101 telephone-event/8000\r\n`), [])
})

test('keys go by INFO on a trunk that takes them so, one after the other', async (t) => {
  const [userAgent, callee] = [await startAgent(t), await startAgent(t)]
  const trunk = parseTrunkUri(`sip:127.0.0.1:${callee.localPort};dtmf=info`)
  const network = { carrier: createSipCarrier({ userAgent, trunk, logger: silentLogger }), callee }
  const answered = answers(callee)
  const leg = legOf(await dial(network))
  assert.deepEqual([leg.media.dtmf, leg.media.telephoneEventPayloadType], ['info', undefined])
  const { dialog } = await answered
  const bodies: string[] = []
  dialog.onRequest('INFO', (request) => {
    bodies.push(bodyText(request))
    return 200
  })
  await leg.sendDigits('1a?#')
  assert.deepEqual(
    bodies,
    ['1', 'A', '#'].map((key) => `Signal=${key}\r\nDuration=160\r\n`),
  )
  const digits: string[] = []
  leg.onDigit((digit) => digits.push(digit))
  const pressed = { headers: { 'Content-Type': 'application/dtmf' }, body: '9' }
  await dialog.request('INFO', pressed)
  assert.deepEqual(digits, ['9'])
  await leg.hangUp()
})

test('a host name in the SDP is looked up, and the latest description counts', async (t) => {
  const network = await connect(t)
  const sdp = (host: string, port: number): string =>
    `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 ${host}\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0\r\n`
  const answered = Promise.withResolvers<Dialog | undefined>()
  network.callee.onInvite(
    (incoming) => void incoming.accept(sdp('localhost', 5000)).then(answered.resolve),
  )
  const leg = legOf(await dial(network))
  assert.match(leg.media.remote.address, /^(?:127\.0\.0\.1|::1)$/)
  const dialog = await answered.promise
  const heard: NegotiatedMedia[] = []
  leg.onMediaChange((media) => heard.push(media))
  await dialog?.reinvite(sdp('localhost', 5002))
  await dialog?.reinvite(sdp('127.0.0.3', 5004))
  assert.deepEqual(leg.media.remote, { address: '127.0.0.3', port: 5004 })
  await leg.hangUp()
  assert.deepEqual(heard.at(-1)?.remote, { address: '127.0.0.3', port: 5004 })
})

test('an answer without a common codec is hung up', async (t) => {
  const network = await connect(t)
  const { promise: ended, resolve } = Promise.withResolvers<unknown>()
  network.callee.onInvite((incoming) => {
    const sdp =
      'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 5000 RTP/AVP 18\r\n'
    void incoming.accept(sdp).then((dialog) => dialog?.ended.then(resolve))
  })
  const failure = failureOf(await dial(network))
  assert.equal(failure.cause, 'media_mismatch')
  assert.match(failure.reason, /^SIP 200 OK/)
  assert.deepEqual(await ended, { by: 'remote' })
})

test('a refusal is a failure with its reason, and one INVITE', async (t) => {
  const network = await connect(t)
  let invites = 0
  network.callee.onInvite((incoming) => {
    invites += 1
    incoming.reject(503, 'Service Unavailable', { 'Retry-After': '7' })
  })
  assert.deepEqual(failureOf(await dial(network)), {
    cause: 'congestion',
    sipStatus: 503,
    reason: 'SIP 503 Service Unavailable: the carrier has no room for the call now.',
    rang: false,
    invited: true,
    retryAfterMs: 7000,
  })
  assert.equal(invites, 1)
})

test('503 after ringing is no congestion: the phone may not ring again', async (t) => {
  const network = await connect(t)
  network.callee.onInvite((incoming) => {
    incoming.provisional(180, 'Ringing')
    incoming.reject(503, 'Service Unavailable', { 'Retry-After': '7' })
  })
  const failure = failureOf(await dial(network))
  assert.deepEqual([failure.cause, failure.rang], ['rejected', true])
})

test('early media is distinguished from ringing', async (t) => {
  const network = await connect(t)
  const progress: DialProgress['kind'][] = []
  network.callee.onInvite((incoming) => {
    const sdp =
      createMediaNegotiator({ local: calleeMedia }).answer(incoming.offer ?? '')?.sdp ?? ''
    incoming.provisional(180, 'Ringing')
    incoming.provisional(183, 'Session Progress', { sdp })
    incoming.provisional(183, 'Session Progress', { sdp })
    incoming.reject(486, 'Busy Here')
  })
  assert.equal(
    failureOf(await dial(network, { onProgress: ({ kind }) => progress.push(kind) })).cause,
    'busy',
  )
  assert.deepEqual(progress, ['ringing', 'early_media'])
})

test('without an answer: CANCEL, 487, no answer', async (t) => {
  const network = await connect(t)
  network.callee.onInvite((incoming) => {
    incoming.provisional(180, 'Ringing')
  })
  const failure = failureOf(await dial(network, { ringTimeoutMs: 300 }))
  assert.deepEqual([failure.cause, failure.sipStatus, failure.rang], ['no_answer', 487, true])
})

test('an abort while ringing is cancelled', async (t) => {
  const network = await connect(t)
  const abort = new AbortController()
  network.callee.onInvite((incoming) => {
    incoming.provisional(180, 'Ringing')
  })
  const onProgress = ({ kind }: DialProgress): void => {
    if (kind === 'ringing') abort.abort('cancel_requested')
  }
  assert.equal(failureOf(await dial(network, { onProgress }, abort.signal)).cause, 'cancelled')
})

test('a trunk whose port is closed is no route, and its INVITE certainly reached no phone', async (t) => {
  const userAgent = await startAgent(t)
  const trunk = parseTrunkUri('sip:127.0.0.1:9')
  const carrier = createSipCarrier({ userAgent, trunk, logger: silentLogger })
  const failure = failureOf(await dial({ carrier, callee: userAgent }))
  assert.deepEqual([failure.cause, failure.invited], ['no_route', false])
  assert.deepEqual(await carrier.ping(5_000), { isAlive: false, isRefused: true })
})

test('a silent trunk is no route, but may have rung a phone', async (t) => {
  const userAgent = await startAgent(t)
  const mute = createSocket('udp4')
  mute.bind(0, '127.0.0.1')
  await once(mute, 'listening')
  t.after(() => mute.close())
  const trunk = parseTrunkUri(`sip:127.0.0.1:${mute.address().port}`)
  const carrier = createSipCarrier({
    userAgent,
    trunk,
    logger: silentLogger,
    responseTimeoutMs: 50,
  })
  const failure = failureOf(await dial({ carrier, callee: userAgent }))
  assert.deepEqual([failure.cause, failure.invited], ['no_route', true])
  assert.deepEqual(await carrier.ping(50), { isAlive: false })
})

test('nothing is sent when the lease is lost', async (t) => {
  const network = await connect(t)
  let invites = 0
  network.callee.onInvite(() => (invites += 1))
  const failure = failureOf(await dial(network, { mayInvite: () => false }))
  assert.deepEqual([failure.cause, failure.invited, invites], ['not_sent', false, 0])
})

test("the trunk's credentials answer a challenge, and wrong ones end as authentication", async (t) => {
  const server = createDigestServer({ username: 'acc', password: 'pw' }, { realm: 'carrier' })
  const challenging = (callee: UserAgent): void =>
    callee.onInvite((incoming) => {
      const proof = headerOf(incoming.request, 'proxy-authorization')
      if (!server.verify(proof, incoming.request)) {
        const headers = { 'Proxy-Authenticate': server.challenge() }
        return incoming.reject(407, 'Proxy Authentication Required', headers)
      }
      const answer = createMediaNegotiator({ local: calleeMedia }).answer(incoming.offer ?? '')
      void incoming.accept(answer?.sdp ?? '')
    })
  const good = await connect(t, 'acc:pw@')
  challenging(good.callee)
  await legOf(await dial(good)).hangUp()
  const bad = await connect(t, 'acc:nope@')
  challenging(bad.callee)
  const failure = failureOf(await dial(bad))
  assert.deepEqual([failure.cause, failure.sipStatus], ['authentication', 407])
  const none = await connect(t)
  challenging(none.callee)
  assert.equal(failureOf(await dial(none)).cause, 'authentication')
})

test('the offer contains the public address, and never a wildcard', async (t) => {
  for (const [options, address] of [
    [{ publicAddress: '203.0.113.5' }, '203.0.113.5'],
    [{}, '127.0.0.1'],
  ] as const) {
    const network = await connect(t, '', {
      ...options,
      shape: { identity: 'none', privacy: 'none', headers: [], fromDomain: 'pbx.example.com' },
      sendsCallId: true,
    })
    const answered = answers(network.callee)
    const leg = legOf(await dial(network, { localMedia: { address: '0.0.0.0', port: 40_000 } }))
    const { incoming } = await answered
    assert.match(incoming.offer ?? '', new RegExp(`^c=IN IP4 ${address}\r$`, 'm'))
    assert.match(headerOf(incoming.request, 'from') ?? '', /@pbx\.example\.com>/)
    assert.match(headerOf(incoming.request, 'x-outdial-call-id') ?? '', /^0198f000-/)
    await leg.hangUp()
  }
})

test('ping reports status and round trip of a working trunk', async (t) => {
  const { carrier } = await connect(t)
  const health = await carrier.ping(1000)
  assert.equal(health.isAlive && health.sipStatus, 200)
  assert.ok(health.isAlive && health.roundTripMs > 0)
})
