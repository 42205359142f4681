import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deriveSessionKeys } from './key-derivation.ts'
import type { SrtpKey } from './packet-cipher.ts'
import { createMediaProtection } from './protection.ts'
import { createSrtpReceiver, createSrtpSender } from './srtp.ts'
import { srtpSuites, type SrtpSuiteName } from './suites.ts'

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')
const suites = Object.keys(srtpSuites) as SrtpSuiteName[]

const counterKey = bytes('e1f97a0d3e018be0d64fa32c06de4139 0ec675ad498afeebb6960b3aabe6')
const gcmKey = bytes('000102030405060708090a0b0c0d0e0f a0a1a2a3a4a5a6a7a8a9aaab')
const plainRtp = bytes('800f1234 decafbad cafebabe abababababababababababababababab')
const plainRtcp = bytes('81c8000b cafebabe abababababababababababababababab')

const keyOf = (suite: SrtpSuiteName): SrtpKey => ({
  suite,
  key: suite === 'AEAD_AES_128_GCM' ? gcmKey : counterKey,
})

const packet = (sequence: number, ssrc = 7, payload = 'a0a1a2a3'): Buffer => {
  const head = bytes('80000000 00000000 00000000')
  head.writeUInt16BE(sequence, 2)
  head.writeUInt32BE(sequence * 160, 4)
  head.writeUInt32BE(ssrc, 8)
  return Buffer.concat([head, bytes(payload)])
}

describe('published vectors', () => {
  it('of the key derivation (RFC 3711 B.3)', () => {
    const keys = deriveSessionKeys(counterKey.subarray(0, 16), counterKey.subarray(16), 'rtp')
    assert.deepEqual(keys.encryption, bytes('c61e7a93744f39ee10734afe3ff7a087'))
    assert.deepEqual(keys.salt, bytes('30cbbc08863d8c85d49db34a9ae1'))
    assert.deepEqual(keys.authentication, bytes('cebe321f6ff7716b6fd4ab49af256a156d38baa4'))
  })

  it('of AES_CM_128_HMAC_SHA1_80, RTP and RTCP (libsrtp)', () => {
    const sender = createSrtpSender(keyOf('AES_CM_128_HMAC_SHA1_80'))
    assert.deepEqual(
      sender.protectRtp(plainRtp),
      bytes('800f1234 decafbad cafebabe 4e55dc4ce79978d88ca4d215949d2402 b78d6acc99ea179b8dbb'),
    )
    assert.deepEqual(
      sender.protectRtcp(plainRtcp),
      bytes('81c8000b cafebabe 7128035be487b9bdbef89041f977a5a8 80000001 993e08cd54d6c1230798'),
    )
  })

  it('of AEAD_AES_128_GCM, RTP (libsrtp)', () => {
    const sender = createSrtpSender(keyOf('AEAD_AES_128_GCM'))
    assert.deepEqual(
      sender.protectRtp(plainRtp),
      bytes(
        '800f1234 decafbad cafebabe c5002ede04cfdd2eb91159e0880aa06e d2976826f796b201df3131a127e8a392',
      ),
    )
  })
})

for (const suite of suites) {
  describe(suite, () => {
    const connect = () => ({
      sender: createSrtpSender(keyOf(suite)),
      receiver: createSrtpReceiver(keyOf(suite)),
    })

    it('carries packets with sources and an extension, which stay readable', () => {
      const { sender, receiver } = connect()
      const headed = Buffer.concat([
        bytes('91000001 000000a0 00000007 00000099 bede0001 10aa0000'),
        bytes('0102030405'),
      ])
      const sealed = sender.protectRtp(headed)
      assert.deepEqual(sealed.subarray(0, 24), headed.subarray(0, 24))
      assert.notDeepEqual(sealed.subarray(24, 29), headed.subarray(24))
      assert.deepEqual(receiver.openRtp(sealed), headed)
    })

    it('accepts no packet twice, none that was changed, and none that is older than its window', () => {
      const { sender, receiver } = connect()
      const sealed = Array.from({ length: 200 }, (_, at) => sender.protectRtp(packet(at + 1)))
      assert.ok(receiver.openRtp(sealed[150]!))
      assert.equal(receiver.openRtp(sealed[150]!), undefined)
      assert.equal(receiver.openRtp(sealed[10]!), undefined)
      assert.ok(receiver.openRtp(sealed[60]!), 'a reordered packet')
      for (let at = 0; at < sealed[151]!.length; at += 1) {
        const forged = Buffer.from(sealed[151]!)
        forged[at]! ^= 1
        assert.equal(receiver.openRtp(forged), undefined, `byte ${at}`)
      }
      assert.ok(receiver.openRtp(sealed[151]!), 'forgeries change nothing')
    })

    it('follows the roll-over of sequence numbers, whatever is lost or swapped there', () => {
      const { sender, receiver } = connect()
      const order = [65_530, 65_535, 0, 3, 2, 40_000, 65_534, 5]
      const sealed = order
        .toSorted((one, other) => one - other)
        .filter((sequence) => sequence >= 65_530)
        .map((sequence) => [sequence, sender.protectRtp(packet(sequence))] as const)
      const next = [0, 2, 3, 20_000, 40_000, 60_000].map(
        (sequence) => [sequence, sender.protectRtp(packet(sequence))] as const,
      )
      const third = [1, 5].map((sequence) => sender.protectRtp(packet(sequence)))
      assert.ok(receiver.openRtp(sealed[0]![1]))
      assert.ok(receiver.openRtp(next[0]![1]))
      assert.ok(receiver.openRtp(sealed.at(-1)![1]), 'the last before the roll-over comes late')
      for (const [sequence, each] of next.slice(1))
        assert.deepEqual(receiver.openRtp(each), packet(sequence), String(sequence))
      for (const each of third) assert.ok(receiver.openRtp(each))
    })

    it('carries RTCP with an index, and accepts none twice', () => {
      const { sender, receiver } = connect()
      const [first, second] = [sender.protectRtcp(plainRtcp), sender.protectRtcp(plainRtcp)]
      assert.notDeepEqual(first, second)
      assert.deepEqual(receiver.openRtcp(first), plainRtcp)
      assert.equal(receiver.openRtcp(first), undefined)
      for (let at = 0; at < second.length; at += 1) {
        const forged = Buffer.from(second)
        forged[at]! ^= 1
        assert.equal(receiver.openRtcp(forged), undefined, `byte ${at}`)
      }
      assert.deepEqual(receiver.openRtcp(second), plainRtcp)
    })

    it('reads what a stranger sends, of any length, without an exception', () => {
      const { receiver } = connect()
      for (let length = 0; length < 80; length += 1) {
        for (const fill of [0x80, 0x90, 0x8f, 0xff]) {
          assert.equal(receiver.openRtp(Buffer.alloc(length, fill)), undefined)
          assert.equal(receiver.openRtcp(Buffer.alloc(length, fill)), undefined)
        }
      }
    })
  })
}

describe('the protection of a call', () => {
  const suite = 'AES_CM_128_HMAC_SHA1_80'
  const key = (byte: number): string => Buffer.alloc(30, byte).toString('base64')
  const ours = (own: number, their: number) =>
    ({ suite, ownKey: key(own), theirKey: key(their) }) as const

  it('takes packets of the old key until one of the new key came', () => {
    const [left, right] = [createMediaProtection(), createMediaProtection()]
    left.agree(ours(1, 2))
    right.agree(ours(2, 1))
    const inFlight = [1, 2].map((sequence) => left.protectRtp(packet(sequence)))
    left.agree(ours(3, 2))
    right.agree(ours(2, 3))
    assert.ok(right.openRtp(inFlight[0]!))
    assert.ok(right.openRtp(left.protectRtp(packet(3))))
    assert.equal(right.openRtp(inFlight[1]!), undefined)
  })

  it('goes on when the same keys are agreed again', () => {
    const [left, right] = [createMediaProtection(), createMediaProtection()]
    left.agree(ours(1, 2))
    right.agree(ours(2, 1))
    const sealed = left.protectRtp(packet(65_535))
    assert.ok(right.openRtp(sealed))
    left.agree(ours(1, 2))
    right.agree(ours(2, 1))
    assert.equal(right.openRtp(sealed), undefined, 'a replay')
    assert.ok(right.openRtp(left.protectRtp(packet(0))), 'after the roll-over')
  })

  it('refuses plain packets once keys are agreed', () => {
    const protection = createMediaProtection()
    assert.ok(protection.openRtp(packet(1)))
    protection.agree(ours(1, 2))
    assert.equal(protection.openRtp(packet(2)), undefined)
  })
})
