import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { readWav, WavFormatError, writeWav } from './wav.ts'

test('written WAV data is read back', () => {
  const samples = Int16Array.of(0, 1, -1, 32_767, -32_768, 5)
  assert.deepEqual(readWav(writeWav(samples, 8000, 2)), {
    samples,
    sampleRateHz: 8000,
    channels: 2,
  })
})

test('unknown chunks are skipped and a data chunk of unknown length ends with the file', () => {
  const plain = Buffer.from(writeWav(Int16Array.of(7, 8), 16_000))
  plain.writeUInt32LE(0xffff_ffff, 40)
  const extra = Buffer.from('LIST\x03\0\0\0abc\0', 'latin1')
  const file = Buffer.concat([plain.subarray(0, 36), extra, plain.subarray(36)])
  assert.deepEqual(readWav(file).samples, Int16Array.of(7, 8))
})

test('other files and other encodings are refused', () => {
  const eightBit = Buffer.from(writeWav(Int16Array.of(1), 8000))
  eightBit.writeUInt16LE(8, 34)
  for (const wrong of [Buffer.from('hello'), eightBit, eightBit.subarray(0, 30), Buffer.alloc(0)]) {
    assert.throws(() => readWav(wrong), WavFormatError)
  }
})

test('a damaged WAV file is read or refused', () => {
  const good = writeWav(
    Int16Array.from({ length: 20 }, (_, i) => i),
    8000,
  )
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length), (at, value, length) => {
      const bad = Uint8Array.from(good)
      bad[at] = value
      try {
        readWav(bad.subarray(0, length))
      } catch (error) {
        assert.ok(error instanceof WavFormatError)
      }
    }),
  )
})
