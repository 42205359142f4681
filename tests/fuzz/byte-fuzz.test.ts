import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzBytes } from '../support/byte-fuzz.ts'
import { rtpFuzz } from './rtp.ts'
import { sdpFuzz } from './sdp.ts'
import { sipFuzz } from './sip.ts'

// A million of each: `npm run fuzz sip`, `sdp`, `rtp`.
for (const fuzz of [sipFuzz, sdpFuzz, rtpFuzz])
  test(`3,000 mutated inputs make no reader of ${fuzz.name} throw`, () => {
    const { thrown } = fuzzBytes(fuzz, 3000, 1)
    assert.deepEqual(thrown, [])
  })

test('a reader that throws is found', () => {
  const { thrown } = fuzzBytes(
    {
      ...rtpFuzz,
      read: () => {
        throw new Error('broken')
      },
    },
    1,
    1,
  )
  assert.equal(thrown.length, 1)
})
