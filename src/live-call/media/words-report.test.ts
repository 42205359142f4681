import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWordsReport } from './words-report.ts'

test('words are reported while it is on, once for each change, five times a second at most', () => {
  const reported: (string | undefined)[] = []
  const report = createWordsReport((words) => reported.push(words?.text))
  let text: string | undefined = 'Hello…'
  const source = { agentWords: () => (text === undefined ? undefined : { text, audioOffsetMs: 0 }) }
  report.turn(true)
  for (let frame = 1; frame <= 100; frame += 1) {
    if (frame === 51) text = 'Hello there…'
    if (frame === 58) text = 'Hello there, Ada.'
    if (frame === 91) text = undefined
    report.tick(frame, source)
  }
  assert.deepEqual(reported, ['Hello…', 'Hello there, Ada.', undefined])
  assert.ok(report.isOn)
  report.turn(false)
  assert.ok(!report.isOn)
})
