import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostileText, isHarmless } from '../../tests/support/hostile-text.ts'
import { fc } from '../../tests/support/properties.ts'
import { createLogger } from './logger.ts'
import { blankControls, plainJson, plainText } from './plain-text.ts'

test('escapes are readable', () => {
  assert.equal(
    plainText('a\u001b[31m\nb\t\u009b\u202e\u007f'),
    'a\\u001b[31m\\nb\\t\\u009b\\u202e\\u007f',
  )
  assert.equal(plainText('Ærøskøbing 東京 👩‍👩‍👧 \\n'), 'Ærøskøbing 東京 👩‍👩‍👧 \\n')
  assert.equal(plainText('\ud83d!'), '\\ud83d!')
})

test('whatever the text, nothing deceptive is left, and twice is as once', () =>
  fc.assert(
    fc.property(hostileText, (text) => {
      assert.ok(isHarmless(plainText(text)))
      assert.ok(isHarmless(blankControls(text)))
      assert.equal(plainText(plainText(text)), plainText(text))
    }),
  ))

test('JSON keeps its meaning', () =>
  fc.assert(
    fc.property(hostileText, hostileText, (key, text) => {
      const value = { [`_${key}`]: [text] }
      const json = plainJson(JSON.stringify(value))
      assert.ok(isHarmless(json))
      assert.deepEqual(JSON.parse(json), value)
    }),
  ))

test('no foreign text ends or leaves its line of the log', () =>
  fc.assert(
    fc.property(hostileText, hostileText, (text, key) => {
      const lines: string[] = []
      const logger = createLogger('info', { write: (line) => void lines.push(line) })
      const error = Object.assign(new Error(text, { cause: text }), { code: text })
      logger.child({ bound: text }).info({ [`_${key}`]: text, list: [text], err: error }, text)
      assert.equal(lines.length, 1)
      const [line = ''] = lines
      assert.ok(line.endsWith('\n'))
      assert.ok(isHarmless(line.slice(0, -1)), JSON.stringify(line))
      assert.equal((JSON.parse(line) as { msg: string }).msg, text)
    }),
  ))
