import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeMuLaw, encodeMuLaw } from '../../dashboard/src/audio/mu-law.ts'
import { decodeG711 } from '../../src/audio/g711.ts'

test('the pages decode mu-law as the service does, and encode what they decode', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const samples = decodeG711('pcmu', bytes)
  for (const byte of bytes) {
    assert.ok(Math.round(decodeMuLaw(byte) * 32_768) === samples[byte], `byte ${byte}`)
    // Of the two zeros one is written.
    if (samples[byte] !== 0) assert.equal(encodeMuLaw(decodeMuLaw(byte)), byte)
  }
})
