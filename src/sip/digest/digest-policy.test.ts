import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { silentLogger } from '../../runtime/logger.ts'
import { createDigestPolicy, type WeakestDigest } from './digest-policy.ts'
import { headerOf, headersOf, type SipMessage } from '../message/message.ts'
import { audioSdp, call, startAgent, startPeer } from '../../../tests/support/sip/test-agents.ts'
import type { ScriptedPeer } from '../../../tests/support/sip/scripted-peer.ts'

const credentials = { username: 'trunk', password: 's3cret' }
const md5 = 'Digest realm="carrier", nonce="n1", algorithm=MD5, qop="auth"'
const oldMd5 = 'Digest realm="carrier", nonce="n1", algorithm=MD5'
const sha256 = 'Digest realm="carrier", nonce="n2", algorithm=SHA-256, qop="auth"'

// No datagram is lost here, and no message is repeated because the machine is busy.
const timing = { t1Ms: 5000, t2Ms: 10_000, t4Ms: 100 }

const isSigned = (message: SipMessage): boolean =>
  [...headersOf(message, 'authorization'), ...headersOf(message, 'proxy-authorization')].length > 0

/** Challenges one INVITE; resolves with the algorithm of its credentials, or `refused`. */
const challenged = async (
  t: TestContext,
  weakest: WeakestDigest | undefined,
  ...challenges: readonly string[]
): Promise<string | undefined> => {
  const [agent, peer] = [await startAgent(t, { timing }), await startPeer(t)]
  const digestPolicy = createDigestPolicy(weakest === undefined ? {} : { weakest })
  const placed = call(agent, peer.target, { credentials, digestPolicy })
  const invite = await peer.nextRequest('INVITE')
  const headers = challenges.map((value) => ['www-authenticate', value] as const)
  peer.reply(invite, 401, { headers })
  const again = peer.nextRequest('INVITE').then(async (signed) => {
    await peer.next('ACK')
    peer.reply(signed, 486)
    return /algorithm=([^,]+)/.exec(headerOf(signed, 'authorization') ?? '')?.[1]
  })
  const result = await Promise.race([placed, again])
  return typeof result === 'object' ? result.kind : again
}

test('the weakest digest that a trunk allows decides which challenges are answered', async (t) => {
  assert.equal(await challenged(t, undefined, md5), 'MD5')
  assert.equal(await challenged(t, undefined, oldMd5), 'refused')
  assert.equal(await challenged(t, 'rfc2069', oldMd5), 'MD5')
  assert.equal(await challenged(t, 'sha-256', md5), 'refused')
  assert.equal(await challenged(t, 'sha-256', md5, sha256), 'SHA-256')
  assert.equal(await challenged(t, 'sha-512-256', sha256), 'refused')
})

/** A call whose INVITE was challenged by this realm; it is answered, and its Contact leads to `contactPort`. */
const answer = async (peer: ScriptedPeer, realm: string, contactPort: number): Promise<void> => {
  const invite = await peer.nextRequest('INVITE')
  const challenge = `Digest realm="${realm}", nonce="n", algorithm=MD5, qop="auth"`
  peer.reply(invite, 407, { headers: [['proxy-authenticate', challenge]] })
  const signed = await peer.nextRequest('INVITE')
  assert.ok(isSigned(signed))
  peer.reply(signed, 200, {
    toTag: 'theirs',
    body: audioSdp(),
    headers: [['record-route', `<sip:127.0.0.1:${contactPort};lr>`]],
  })
}

test('a call that is led elsewhere carries no credentials there and answers no challenge', async (t) => {
  const [agent, trunk, elsewhere] = [
    await startAgent(t, { timing }),
    await startPeer(t),
    await startPeer(t),
  ]
  const placed = call(agent, trunk.target, { credentials })
  await answer(trunk, 'carrier', elsewhere.port)
  const result = await placed
  assert.ok(result.kind === 'answered')
  assert.ok(!isSigned(await elsewhere.nextRequest('ACK')))
  const hungUp = result.dialog.bye()
  const bye = await elsewhere.nextRequest('BYE')
  assert.ok(!isSigned(bye))
  elsewhere.reply(bye, 407, { headers: [['proxy-authenticate', md5]] })
  await hungUp
  assert.equal(elsewhere.heardOnce.filter((what) => what === 'BYE').length, 1)
})

test('a call that stays at the trunk keeps carrying its credentials', async (t) => {
  const [agent, trunk] = [await startAgent(t, { timing }), await startPeer(t)]
  const placed = call(agent, trunk.target, { credentials })
  await answer(trunk, 'carrier', trunk.port)
  const result = await placed
  assert.ok(result.kind === 'answered')
  const hungUp = result.dialog.bye()
  const bye = await trunk.nextRequest('BYE')
  assert.ok(isSigned(bye))
  trunk.reply(bye, 200)
  await hungUp
})

test('a realm other than the one that took the credentials is refused, and logged once', async (t) => {
  const reasons: unknown[] = []
  const digestPolicy = createDigestPolicy({
    logger: { ...silentLogger, warn: (fields) => reasons.push(fields) },
  })
  const [agent, trunk] = [await startAgent(t, { timing }), await startPeer(t)]
  const first = call(agent, trunk.target, { credentials, digestPolicy })
  await answer(trunk, 'carrier', trunk.port)
  assert.equal((await first).kind, 'answered')
  for (let tries = 0; tries < 2; tries += 1) {
    const next = call(agent, trunk.target, { credentials, digestPolicy })
    const invite = await trunk.nextRequest('INVITE')
    const other = 'Digest realm="elsewhere", nonce="n", algorithm=MD5, qop="auth"'
    trunk.reply(invite, 407, { headers: [['proxy-authenticate', other]] })
    assert.equal((await next).kind, 'refused')
  }
  assert.equal(reasons.length, 1)
})
