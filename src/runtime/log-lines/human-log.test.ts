import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { hostileText, isHarmless } from '../../../tests/support/hostile-text.ts'
import { fc } from '../../../tests/support/properties.ts'
import { humanLine } from './human-log.ts'
import { createLogger } from '../logger.ts'

const written = (log: (logger: ReturnType<typeof createLogger>) => void): string => {
  let json = ''
  log(createLogger('debug', { write: (line) => void (json += line) }))
  return json
}

test('a fact is one line with its time, level and details', () => {
  const json = written((logger) =>
    logger.info({ applied: 3, through: '0003-x.sql' }, 'the database is migrated'),
  )
  assert.match(
    humanLine(json, false),
    /^\d\d:\d\d:\d\d \S+ +the database is migrated  applied=3  through=0003-x\.sql$/m,
  )
})

test('a fault has its message in the line and its stack below', () => {
  const error = new Error('broken')
  const [head, ...stack] = humanLine(
    written((logger) => logger.error({ err: error }, 'it failed')),
    false,
  ).split('\n')
  assert.match(head ?? '', / error it failed {2}err=broken$/)
  assert.match(stack[0] ?? '', /^ {9} +at /)
})

test('no foreign text leaves its line', () =>
  fc.assert(
    fc.property(hostileText, fc.boolean(), (text, hasColour) => {
      const json = written((logger) => logger.warn({ [`_${text}`]: text, list: [text] }, text))
      const line = humanLine(json, hasColour)
      assert.ok(line.endsWith('\n'))
      assert.ok(isHarmless(stripVTControlCharacters(line.slice(0, -1))), JSON.stringify(line))
    }),
  ))
