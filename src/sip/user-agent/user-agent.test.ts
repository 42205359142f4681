import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { createDigestServer } from '../digest/digest-server.ts'
import { headerOf } from '../message/message.ts'
import { systemTime } from '../../runtime/time.ts'
import {
  audioSdp,
  call,
  fastTiming,
  startAgent,
  targetOf,
} from '../../../tests/support/sip/test-agents.ts'
import { anySource } from '../gate/sources.ts'
import { createUserAgent } from './user-agent.ts'
import { defaultTiming } from '../transaction/transaction-timing.ts'
import type { IncomingInvite, UserAgent } from './user-agent-types.ts'
import type { Dialog } from '../dialog/dialog.ts'

const answering = (agent: UserAgent): Promise<Dialog> => {
  const { promise, resolve, reject } = Promise.withResolvers<Dialog>()
  agent.onInvite((incoming) => {
    incoming.provisional(180, 'Ringing')
    incoming.accept(audioSdp()).then((dialog) => {
      if (dialog === undefined) reject(new Error('no ACK came'))
      else resolve(dialog)
    }, reject)
  })
  return promise
}

const dialogOf = (result: Awaited<ReturnType<typeof call>>): Dialog => {
  if (result.kind !== 'answered') assert.fail(result.kind)
  return result.dialog
}

test('a call is answered and hung up by the caller', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const answered = answering(callee)
  const statuses: number[] = []
  const result = await call(caller, targetOf(callee), {
    onProvisional: ({ status }) => statuses.push(status),
  })
  const [ours, theirs] = [dialogOf(result), await answered]
  // A 100 comes only where the callee needs 200 ms.
  assert.equal(statuses.at(-1), 180)
  assert.equal(ours.sipCallId, theirs.sipCallId)
  assert.match(ours.remoteSdp, /^m=audio /m)
  await ours.bye()
  assert.deepEqual(await ours.ended, { by: 'local' })
  assert.deepEqual(await theirs.ended, { by: 'remote' })
  await ours.bye()
})

test('a call is hung up by the callee, with a reason', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const answered = answering(callee)
  const ours = dialogOf(await call(caller, targetOf(callee)))
  await (await answered).bye({ Reason: 'Q.850;cause=16' })
  assert.deepEqual(await ours.ended, { by: 'remote', reason: 'Q.850;cause=16' })
})

test('a call over TCP is answered and hung up from both sides', async (t) => {
  const caller = await startAgent(t, { listensOnTcp: true })
  const callee = await startAgent(t, { listensOnTcp: true })
  for (const side of ['caller', 'callee'] as const) {
    const answered = answering(callee)
    const ours = dialogOf(await call(caller, targetOf(callee, ';transport=tcp')))
    const theirs = await answered
    await (side === 'caller' ? ours : theirs).bye()
    await Promise.all([ours.ended, theirs.ended])
  }
})

for (const lost of [
  { name: 'two INVITEs', side: 'out', pattern: /^INVITE/, times: 2 },
  { name: '180 and 200', side: 'in', pattern: /^SIP\/2\.0 (180|200)/, times: 2 },
  { name: 'two ACKs', side: 'out', pattern: /^ACK/, times: 2 },
  { name: 'two BYEs', side: 'out', pattern: /^BYE/, times: 2 },
] as const) {
  test(`a call survives the loss of ${lost.name}`, async (t) => {
    let left: number = lost.times
    const caller = await startAgent(t, {
      dropDatagram: (side, bytes) => {
        const isLost = left > 0 && side === lost.side && lost.pattern.test(bytes.toString('latin1'))
        if (isLost) left -= 1
        return isLost
      },
    })
    const callee = await startAgent(t)
    const answered = answering(callee)
    const ours = dialogOf(await call(caller, targetOf(callee)))
    const theirs = await answered
    await ours.bye()
    assert.deepEqual(await theirs.ended, { by: 'remote' })
    assert.equal(left, 0)
  })
}

test('200 calls through a network that loses every tenth datagram all connect and all end', async (t) => {
  let count = 0
  const dropDatagram = (): boolean => (count += 1) % 10 === 0
  // Two hundred calls in one thread: on a busy machine it may be later than the fast timers allow.
  const timing = { t1Ms: 200, t2Ms: 800, t4Ms: 400 }
  const caller = await startAgent(t, { dropDatagram, timing })
  const callee = await startAgent(t, { timing })
  let ended = 0
  callee.onInvite((incoming) => {
    incoming.provisional(180, 'Ringing')
    void incoming.accept(audioSdp()).then((dialog) => dialog?.ended.then(() => (ended += 1)))
  })
  const calls = Array.from({ length: 200 }, async () => {
    const ours = dialogOf(await call(caller, targetOf(callee)))
    await ours.bye()
  })
  await Promise.all(calls)
  assert.equal(ended, 200)
})

test('the ring timeout cancels, and the callee learns of it', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const { promise: cancelled, resolve } = Promise.withResolvers<void>()
  callee.onInvite((incoming) => {
    incoming.provisional(180, 'Ringing')
    incoming.cancelled.addEventListener('abort', () => resolve())
  })
  const result = await call(caller, targetOf(callee), { ringTimeoutMs: 300 })
  assert.equal(result.kind, 'ring_timeout')
  assert.equal(result.kind === 'ring_timeout' && result.response?.status, 487)
  assert.equal(result.kind === 'ring_timeout' && result.rang, true)
  await cancelled
})

test('an abort while ringing cancels', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const abort = new AbortController()
  callee.onInvite((incoming) => {
    incoming.provisional(180, 'Ringing')
  })
  const onProvisional = ({ status }: { status: number }): void => {
    if (status === 180) abort.abort()
  }
  const result = await call(caller, targetOf(callee), { onProvisional }, abort.signal)
  assert.deepEqual(result, { kind: 'cancelled', rang: true, invited: true })
})

test('the callee itself refuses an answer after the CANCEL', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const { promise: incoming, resolve } = Promise.withResolvers<IncomingInvite>()
  callee.onInvite((invite) => {
    invite.provisional(180, 'Ringing')
    resolve(invite)
  })
  await call(caller, targetOf(callee), { ringTimeoutMs: 300 })
  assert.equal(await (await incoming).accept(audioSdp()), undefined)
})

test('digest by 407 is answered once, with a rising CSeq in one dialog', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const credentials = { username: 'trunk', password: 's3cret' }
  const server = createDigestServer(credentials, { realm: 'outdial', algorithm: 'SHA-256' })
  const sequences: string[] = []
  callee.onInvite((incoming) => {
    sequences.push(headerOf(incoming.request, 'cseq') ?? '')
    const proof = headerOf(incoming.request, 'proxy-authorization')
    if (server.verify(proof, incoming.request)) void incoming.accept(audioSdp())
    else
      incoming.reject(407, 'Proxy Authentication Required', {
        'Proxy-Authenticate': server.challenge(),
      })
  })
  const result = await call(caller, targetOf(callee), { credentials })
  assert.equal(result.kind, 'answered')
  assert.deepEqual(sequences, ['1 INVITE', '2 INVITE'])
  const wrong = await call(caller, targetOf(callee), {
    credentials: { username: 'trunk', password: 'wrong' },
  })
  assert.equal(wrong.kind === 'refused' && wrong.response.status, 407)
  assert.equal(sequences.length, 4)
})

test('nothing is written when the caller may not send', async (t) => {
  let datagrams = 0
  const caller = await startAgent(t, { dropDatagram: () => (datagrams += 1) > 0 })
  const callee = await startAgent(t)
  const result = await call(caller, targetOf(callee), { maySend: () => false })
  assert.deepEqual(result, { kind: 'not_sent' })
  assert.equal(datagrams, 0)
})

test('an unreachable target is a result, not an exception', async (t) => {
  const caller = await startAgent(t)
  const silent = await call(caller, 'sip:a@127.0.0.1:9', { responseTimeoutMs: 60 })
  assert.deepEqual(silent, {
    kind: 'unreachable',
    reason: 'recvmsg ECONNREFUSED',
    rang: false,
    invited: false,
  })
  const refused = await call(caller, 'sip:a@127.0.0.1:1;transport=tcp')
  assert.equal(refused.kind === 'unreachable' && refused.invited, false)
  const noUri = await call(caller, 'tel:+12025550100')
  assert.equal(noUri.kind, 'unreachable')
})

test('timer B ends an INVITE without a response', async (t) => {
  const caller = await startAgent(t, { timing: { ...fastTiming, t1Ms: 2 } })
  const result = await call(caller, 'sip:a@127.0.0.1:9')
  assert.equal(result.kind, 'unreachable')
})

test('hold and resume by re-INVITE reach the other side, and a refused offer changes nothing', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const answered = answering(callee)
  const ours = dialogOf(await call(caller, targetOf(callee)))
  const theirs = await answered
  const offers: string[] = []
  theirs.onOffer((offer) => {
    offers.push(offer)
    return offer.includes('sendonly') ? audioSdp() : undefined
  })
  const held = await ours.reinvite(audioSdp('sendonly'))
  assert.equal(held?.status, 200)
  const refused = await ours.reinvite(audioSdp('sendrecv'))
  assert.equal(refused?.status, 488)
  assert.equal(offers.length, 2)
  await ours.bye()
})

test('a crossing pair of re-INVITEs is separated by 491, and both succeed', async (t) => {
  // The pauses after a collision are seconds by RFC 3261 14.1, whatever T1 is.
  const time = {
    ...systemTime,
    after: (ms: number, task: () => void) => systemTime.after(ms / 20, task),
  }
  const caller = await startAgent(t, { time, timing: defaultTiming })
  const callee = await startAgent(t, { time, timing: defaultTiming })
  const answered = answering(callee)
  const ours = dialogOf(await call(caller, targetOf(callee)))
  const theirs = await answered
  ours.onOffer(() => audioSdp())
  theirs.onOffer(() => audioSdp())
  const results = await Promise.all([ours.reinvite(audioSdp()), theirs.reinvite(audioSdp())])
  assert.deepEqual(
    results.map((response) => response?.status),
    [200, 200],
  )
  await ours.bye()
})

test('INFO inside the dialog gets a response, and after the end it gets 481', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const answered = answering(callee)
  const ours = dialogOf(await call(caller, targetOf(callee)))
  const theirs = await answered
  assert.equal((await ours.request('INFO', {}))?.status, 200)
  const ended = theirs.bye()
  await ended
  assert.equal((await ours.request('INFO', {}))?.status, 481)
})

test('stop hangs up what is connected and cancels what rings', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const answered = answering(callee)
  const ours = dialogOf(await call(caller, targetOf(callee)))
  const theirs = await answered
  callee.onInvite((incoming) => {
    incoming.provisional(180, 'Ringing')
  })
  const { promise: rings, resolve } = Promise.withResolvers<void>()
  const ringing = call(caller, targetOf(callee), {
    onProvisional: ({ status }) => {
      if (status === 180) resolve()
    },
  })
  await rings
  await caller.stop(2000)
  assert.equal((await ours.ended).by, 'local')
  assert.equal((await theirs.ended).by, 'remote')
  assert.equal((await ringing).kind, 'cancelled')
  await caller.stop()
})

test('an unknown source gets nothing, a known one gets a response', async (t) => {
  let isKnown = false
  const callee = await startAgent(t, {
    sources: { ...anySource, admits: () => isKnown },
  })
  const caller = await startAgent(t)
  assert.equal(await caller.ping(targetOf(callee), 60), undefined)
  isKnown = true
  assert.equal((await caller.ping(targetOf(callee), 1000))?.status, 200)
})

test('new requests beyond the rate of one address get no response', async (t) => {
  const time = createManualTime()
  const callee = await startAgent(t, { maxUnknownPerSecond: 3, time })
  const caller = await startAgent(t)
  const pings = Array.from({ length: 10 }, () => caller.ping(targetOf(callee), 400))
  const answered = (await Promise.all(pings)).filter((response) => response !== undefined)
  assert.equal(answered.length, 3)
})

test('without a handler an INVITE is forbidden', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const result = await call(caller, targetOf(callee))
  assert.equal(result.kind === 'refused' && result.response.status, 403)
})

test('after a throwing handler comes 500 and the agent keeps running', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  callee.onInvite(() => {
    throw new Error('a fault of the handler')
  })
  const result = await call(caller, targetOf(callee))
  assert.equal(result.kind === 'refused' && result.response.status, 500)
  assert.equal((await caller.ping(targetOf(callee), 1000))?.status, 200)
})

test('the signal of an answered call has no effect any more', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  const answered = answering(callee)
  const abort = new AbortController()
  const ours = dialogOf(await call(caller, targetOf(callee), {}, abort.signal))
  const theirs = await answered
  abort.abort()
  assert.equal((await ours.request('INFO', {}))?.status, 200)
  await ours.bye()
  await theirs.ended
})

test('an aborted signal sends nothing', async (t) => {
  const [caller, callee] = [await startAgent(t), await startAgent(t)]
  let invites = 0
  callee.onInvite(() => (invites += 1))
  const result = await call(caller, targetOf(callee), {}, AbortSignal.abort())
  assert.deepEqual(result, { kind: 'cancelled', rang: false, invited: false })
  assert.equal(invites, 0)
})

test('a port in use is reported at start', async (t) => {
  const first = await startAgent(t)
  const second = createUserAgent({
    sources: anySource,
    bindAddress: '127.0.0.1',
    port: first.localPort,
  })
  await assert.rejects(second.start(), /cannot listen on 127\.0\.0\.1, UDP port/)
  await second.stop()
})
