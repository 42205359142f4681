import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBrowserLine } from './browser-line.ts'

const silence = 0xff

test('what a browser says is heard in frames, whatever the length of its messages', () => {
  const line = createBrowserLine()
  assert.equal(line.receive()[0], silence)
  for (let byte = 1; byte <= 8; byte += 1) line.heard(new Uint8Array(100).fill(byte))
  const frames = Array.from({ length: 6 }, () => line.receive())
  assert.deepEqual(
    frames.map((frame) => [frame.length, frame[0]]),
    [
      [160, 1],
      [160, 2],
      [160, 4],
      [160, 5],
      [160, 7],
      [160, silence],
    ],
  )
})

test('a flood leaves no more than the newest 400 ms, and silence is counted', () => {
  const line = createBrowserLine()
  for (let byte = 0; byte < 200; byte += 1) line.heard(new Uint8Array(1_600).fill(byte))
  const heard = Array.from({ length: 30 }, () => line.receive()[0])
  assert.deepEqual(new Set(heard.slice(0, 20)), new Set([198, 199]))
  assert.deepEqual(new Set(heard.slice(20)), new Set([silence]))
  assert.equal(line.stats().silentForMs, 200)
})
