import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminalWidthOf } from './terminal-width.ts'

test('a terminal that does not tell its size has 80 columns, and a pipe none', () => {
  assert.equal(terminalWidthOf({ isTTY: true, columns: 140 }), 140)
  assert.equal(terminalWidthOf({ isTTY: true, columns: 0 }), 80)
  assert.equal(terminalWidthOf({ columns: 140 }), undefined)
})
