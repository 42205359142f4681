import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSynthesizer } from './flite.ts'
import { decodeG711, encodeG711 } from './g711.ts'
import { pureToneHz } from './voice-activity-tone.ts'

const sine = (hertz: number, amplitude: number): Int16Array =>
  Int16Array.from({ length: 160 }, (_, at) => amplitude * Math.sin((Math.PI * hertz * at) / 4_000))

const overTheLine = (samples: Int16Array): Int16Array =>
  decodeG711('pcmu', encodeG711('pcmu', samples))

describe('pureToneHz', () => {
  for (const hertz of [350, 440, 1_000, 1_400, 2_000, 2_900]) {
    it(`knows ${hertz} Hz within 5 Hz, loud or quiet, through G.711`, () => {
      for (const amplitude of [600, 3_000, 20_000]) {
        const found = pureToneHz(overTheLine(sine(hertz, amplitude)))
        assert.ok(found !== undefined && Math.abs(found - hertz) < 5, `${found}`)
      }
    })
  }

  it('classifies a busy tone, silence and a low hum correctly', () => {
    const one = sine(480, 4_000)
    const busy = sine(620, 4_000).map((sample, at) => sample + (one[at] ?? 0))
    assert.equal(pureToneHz(busy), undefined)
    assert.equal(pureToneHz(new Int16Array(160)), undefined)
    assert.equal(pureToneHz(sine(50, 8_000)), undefined)
  })

  it('finds no tone in speech', () => {
    const { samples } = createSynthesizer().synthesize(
      'How now, brown cow? Who knew you do too?',
      'kal',
    )
    const tones: number[] = []
    for (let at = 0; at + 160 <= samples.length; at += 160) {
      const hertz = pureToneHz(samples.subarray(at, at + 160))
      if (hertz !== undefined) tones.push(hertz)
    }
    assert.ok(samples.length > 16_000)
    assert.ok(tones.length <= 2, `${tones.length} frames`)
  })
})
