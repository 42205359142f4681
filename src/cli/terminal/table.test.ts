import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOf, type Lines } from './output.ts'
import { table } from './table.ts'
import { widthOf } from './text-width.ts'

const heading = ['CHECK', 'FINDING']
const rows = [
  ['disk', 'Only 0.4 GiB are free: free some space.'],
  ['nat', 'Short.'],
]

const textsOf = (lines: Lines): string[] =>
  lines.map((line) =>
    (typeof line === 'string' || 'style' in line ? [line] : line).map(textOf).join('').trimEnd(),
  )

const id = '01a202e9-31e8-75e4-9c64-4971eeb02b7d'
const keys = [
  [id, 'A key with rather a long name', '0q36O', '2026-11-22T10:59:17.913Z', '', 'calls:read'],
  [id, 'Kurz', 'abcde', '', '2026-11-22T10:59:17.913Z', 'calls:read, calls:write, batches:read'],
]
const keyHeading = ['ID', 'NAME', 'ENDS IN', 'EXPIRES', 'REVOKED', 'SCOPES']

test('on a terminal the last column is wrapped under itself', () => {
  assert.deepEqual(textsOf(table(heading, rows, '', 30)), [
    'CHECK  FINDING',
    'disk   Only 0.4 GiB are free:',
    '       free some space.',
    'nat    Short.',
  ])
})

test('without a width, as in a pipe, a row is one line with everything', () => {
  assert.deepEqual(textsOf(table(heading, rows, '')), [
    'CHECK  FINDING',
    `disk   ${rows[0]?.[1]}`,
    'nat    Short.',
  ])
})

test('a word longer than the last column turns rows into lists, where it stays whole', () => {
  const word = 'x'.repeat(40)
  assert.deepEqual(textsOf(table(heading, [['a', `See ${word} there`]], '', 30)), [
    'CHECK    a',
    'FINDING  See',
    `         ${word}`,
    '         there',
  ])
})

test('no row is wider than the terminal, ids stay whole, other texts are shortened', () => {
  for (const width of [60, 80, 100, 120, 140, 200]) {
    const lines = textsOf(table(keyHeading, keys, '', width))
    for (const line of lines) assert.ok(widthOf(line) <= width, `${width}: ${line}`)
    assert.equal(lines.filter((line) => line.includes(id)).length, 2, String(width))
  }
  assert.match(textsOf(table(keyHeading, keys, '', 120)).join('\n'), /A key with[^\n]*…/)
})

test('characters of two cells are counted as two', () => {
  const lines = textsOf(
    table(
      ['NAME', 'ID'],
      [
        ['東京タワー', '1'],
        ['Ada', '2'],
      ],
      '',
      40,
    ),
  )
  assert.deepEqual(lines, ['NAME        ID', '東京タワー  1', 'Ada         2'])
})

test('a single row has no label without a value', () => {
  const lines = textsOf(table(['ID', 'LASTED', 'REASON'], [['x'.repeat(36), '', 'busy']], '', 20))
  assert.deepEqual(
    lines.filter((line) => line.startsWith('LASTED')),
    [],
  )
  assert.ok(lines.some((line) => line.startsWith('REASON')))
})
