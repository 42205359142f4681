import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeG711, encodeG711, g711Silence, transcodeG711, type G711Codec } from './g711.ts'

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const everySample = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768)
const one = (codec: G711Codec, sample: number) => encodeG711(codec, Int16Array.of(sample))[0]

describe('G.711', () => {
  it('decodes the extremes and the middle of both laws as ITU-T G.711 lists them', () => {
    assert.deepEqual(
      [...decodeG711('pcmu', Uint8Array.of(0x00, 0x80, 0xff, 0x7f))],
      [-32124, 32124, 0, 0],
    )
    assert.deepEqual(
      [...decodeG711('pcma', Uint8Array.of(0x2a, 0xaa, 0xd5, 0x55))],
      [-32256, 32256, 8, -8],
    )
  })

  it('encodes zero and the loudest samples as the standard does', () => {
    assert.deepEqual([one('pcmu', 0), one('pcmu', 32767), one('pcmu', -32768)], [0xff, 0x80, 0x00])
    assert.deepEqual([one('pcma', 0), one('pcma', 32767), one('pcma', -32768)], [0xd5, 0xaa, 0x2a])
  })

  for (const codec of ['pcmu', 'pcma'] as const) {
    it(`${codec}: every byte survives decoding and encoding`, () => {
      const back = encodeG711(codec, decodeG711(codec, everyByte))
      // Mu-law has two zeroes, 0x7f and 0xff; the sign of zero is lost.
      const expected = everyByte.map((byte) => (codec === 'pcmu' && byte === 0x7f ? 0xff : byte))
      assert.deepEqual(back, expected)
    })

    it(`${codec}: no sample is off by more than half a step of its segment`, () => {
      const back = decodeG711(codec, encodeG711(codec, everySample))
      everySample.forEach((sample, i) => {
        const halfStep = Math.max(8, (Math.abs(sample) + 132) / 32)
        const clipped = Math.max(0, Math.abs(sample) - 32_124)
        assert.ok(Math.abs(back[i]! - sample) <= halfStep + clipped, `sample ${sample}`)
      })
    })

    it(`${codec}: silence decodes to silence`, () => {
      assert.ok(decodeG711(codec, g711Silence(codec)).every((sample) => Math.abs(sample) <= 8))
    })
  }

  it('transcodes like decoding and encoding, and copies within one law', () => {
    const expected = encodeG711('pcma', decodeG711('pcmu', everyByte))
    assert.deepEqual(transcodeG711('pcmu', 'pcma', everyByte), expected)
    const copy = transcodeG711('pcma', 'pcma', everyByte)
    assert.deepEqual(copy, everyByte)
    assert.notEqual(copy, everyByte)
  })
})
