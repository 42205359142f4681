import assert from 'node:assert/strict'
import { test } from 'node:test'
import { table } from './output.ts'

const heading = ['CHECK', 'FINDING']
const rows = [
  ['disk', 'Only 0.4 GiB are free: free some space.'],
  ['nat', 'Short.'],
]

test('on a terminal the last column is wrapped under itself', () => {
  assert.equal(
    table(heading, rows, '', 30),
    [
      'CHECK  FINDING',
      'disk   Only 0.4 GiB are free:',
      '       free some space.',
      'nat    Short.',
    ].join('\n'),
  )
})

test('without a width, as in a pipe, and where it is too narrow a row is one line', () => {
  const lines = ['CHECK  FINDING', `disk   ${rows[0]?.[1]}`, 'nat    Short.'].join('\n')
  assert.equal(table(heading, rows, ''), lines)
  assert.equal(table(heading, rows, '', 20), lines)
})

test('a word longer than the column is not broken', () => {
  const word = 'x'.repeat(40)
  assert.equal(
    table(heading, [['a', `See ${word} there`]], '', 30),
    `CHECK  FINDING\na      See\n       ${word}\n       there`,
  )
})
