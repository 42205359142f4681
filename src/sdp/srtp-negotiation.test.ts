import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wantsDtls, type SrtpPolicy } from './read-sdp.ts'
import { createMediaNegotiator } from './sdp.ts'

const policies: readonly SrtpPolicy[] = ['off', 'preferred', 'required']
const key = Buffer.alloc(30, 5).toString('base64')

const negotiator = (srtp: SrtpPolicy, port = 40_000) =>
  createMediaNegotiator({ local: { address: '192.0.2.10', port }, srtp })

const described = (...media: string[]): string =>
  `${['v=0', 'o=- 1 1 IN IP4 192.0.2.30', 's=-', 'c=IN IP4 192.0.2.30', 't=0 0', ...media].join('\r\n')}\r\n`

const secure = (...crypto: string[]): string =>
  described('m=audio 4000 RTP/SAVP 0', ...crypto.map((line) => `a=crypto:${line}`))

for (const ours of policies) {
  for (const theirs of policies) {
    const isPossible = ![ours, theirs].includes('required') || ![ours, theirs].includes('off')
    const isSecure = isPossible && ours !== 'off' && theirs !== 'off'
    test(`${ours} calls ${theirs}: ${isSecure ? 'encrypted' : isPossible ? 'plain' : 'refused'}`, () => {
      const [caller, callee] = [negotiator(ours), negotiator(theirs, 50_000)]
      const answer = callee.answer(caller.offer())
      assert.equal(answer !== undefined, isPossible)
      if (!answer) return
      const agreed = caller.acceptAnswer(answer.sdp)
      assert.equal(agreed?.srtp !== undefined, isSecure)
      assert.equal(agreed?.srtp?.ownKey, answer.audio.srtp?.theirKey)
      assert.equal(agreed?.srtp?.theirKey, answer.audio.srtp?.ownKey)
      assert.equal(agreed?.srtp?.suite, isSecure ? 'AES_CM_128_HMAC_SHA1_80' : undefined)
    })
  }
}

test('the answer chooses one of our suites; a suite that we did not offer under its tag is none', () => {
  const caller = negotiator('required')
  const offer = caller.offer()
  assert.match(offer, /^m=audio 40000 RTP\/SAVP 0 8 101\r$/m)
  assert.match(offer, /^a=crypto:3 AES_CM_128_HMAC_SHA1_32 inline:[A-Za-z0-9+/]{40}\r$/m)
  const chosen = caller.acceptAnswer(secure(`3 AES_CM_128_HMAC_SHA1_32 inline:${key}`))
  assert.equal(chosen?.srtp?.suite, 'AES_CM_128_HMAC_SHA1_32')
  assert.ok(offer.includes(chosen?.srtp?.ownKey ?? '-'))
  for (const line of [
    `1 AES_CM_128_HMAC_SHA1_32 inline:${key}`,
    `9 AES_CM_128_HMAC_SHA1_80 inline:${key}`,
    'x',
  ])
    assert.equal(caller.acceptAnswer(secure(line)), undefined, line)
})

test('keys that we cannot use are passed over for one that we can', () => {
  const usable = `7 AES_CM_128_HMAC_SHA1_80 inline:${key}|2^31`
  for (const unusable of [
    `1 AES_256_CM_HMAC_SHA1_80 inline:${key}`,
    `2 AES_CM_128_HMAC_SHA1_80 inline:${key}|2^20|1:4`,
    `3 AES_CM_128_HMAC_SHA1_80 inline:c2hvcnQ=`,
    `4 AES_CM_128_HMAC_SHA1_80 inline:${key} UNENCRYPTED_SRTP`,
    `5 AES_CM_128_HMAC_SHA1_80 inline:${key};inline:${key}`,
    `6 __proto__ inline:${key}`,
  ]) {
    const answer = negotiator('required').answer(secure(unusable, usable))
    assert.match(answer?.sdp ?? '', /a=crypto:7 AES_CM_128_HMAC_SHA1_80 inline:/, unusable)
    assert.equal(negotiator('required').answer(secure(unusable)), undefined, unusable)
  }
  assert.ok(negotiator('required').answer(secure(`1 AES_CM_128_HMAC_SHA1_80 inline:${key} WSH=64`)))
})

test('the same key of a re-INVITE keeps ours, a new one makes ours new', () => {
  const callee = negotiator('preferred')
  const offered = (byte: number) =>
    callee.answer(
      secure(`1 AES_CM_128_HMAC_SHA1_80 inline:${Buffer.alloc(30, byte).toString('base64')}`),
    )?.audio.srtp
  const first = offered(1)
  assert.deepEqual(offered(1), first)
  const second = offered(2)
  assert.notEqual(second?.theirKey, first?.theirKey)
  assert.notEqual(second?.ownKey, first?.ownKey)
})

test('of several streams the encrypted one is chosen, and answered with its protocol', () => {
  const offer = described(
    'm=audio 4000 RTP/AVP 0',
    'm=audio 4002 RTP/SAVPF 0',
    `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}`,
  )
  const streams = (srtp: SrtpPolicy) =>
    negotiator(srtp)
      .answer(offer)
      ?.sdp.split('\r\n')
      .filter((line) => line.startsWith('m='))
  assert.deepEqual(streams('preferred'), ['m=audio 0 RTP/AVP 0', 'm=audio 40000 RTP/SAVPF 0'])
  assert.deepEqual(streams('off'), ['m=audio 40000 RTP/AVP 0', 'm=audio 0 RTP/SAVPF 0'])
})

test('DTLS-SRTP is told from SDES, and refused', () => {
  const fingerprint = `a=fingerprint:sha-256 ${Array(32).fill('AB').join(':')}`
  const dtls = described('m=audio 4000 UDP/TLS/RTP/SAVPF 0', fingerprint)
  const shared = described('m=audio 4000 RTP/SAVPF 0', fingerprint)
  for (const offer of [dtls, shared]) {
    assert.equal(wantsDtls(offer), true)
    for (const policy of policies) assert.equal(negotiator(policy).answer(offer), undefined)
  }
  assert.equal(wantsDtls(secure(`1 AES_CM_128_HMAC_SHA1_80 inline:${key}`)), false)
  assert.equal(wantsDtls(described('m=audio 4000 RTP/AVP 0', fingerprint)), false)
})
