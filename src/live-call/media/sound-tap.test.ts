import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSoundTap } from './sound-tap.ts'

const frame = (byte: number) => new Uint8Array(160).fill(byte)

test('a tenth of a second is passed on at once, the agent before the callee', () => {
  const passed: Uint8Array[] = []
  const tap = createSoundTap((g711) => passed.push(g711))
  tap.turn(true)
  for (let index = 1; index <= 10; index += 1) tap.write(frame(index), frame(100 + index))
  const lanes = passed.map((g711) => [g711[0], g711[799], g711[800], g711[1599]])
  assert.deepEqual(lanes, [
    [1, 5, 101, 105],
    [6, 10, 106, 110],
  ])
})

test('what the other thread does not take is dropped, and the newest follows once it does', () => {
  const passed: number[] = []
  const tap = createSoundTap((g711) => passed.push(g711[0] ?? -1))
  tap.turn(true)
  for (let index = 0; index < 1_000; index += 1) tap.write(frame(index % 256), frame(0))
  assert.equal(passed.length, 20)
  tap.taken()
  for (let index = 0; index < 10; index += 1) tap.write(frame(7), frame(0))
  assert.deepEqual(passed.slice(20), [7])
})
