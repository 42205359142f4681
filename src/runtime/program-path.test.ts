import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { programPath } from './program-path.ts'

const checkout = join(import.meta.dirname, '../..')

test('the program is named so that a hint can be pasted where it was read', () => {
  assert.equal(programPath(checkout), './outdial')
  const outside = programPath('/')
  assert.ok(existsSync(outside.startsWith('/') ? outside : join('/', outside)), outside)
  const elsewhere = programPath(join(dirname(checkout), 'another-folder'))
  assert.equal(elsewhere, join(checkout, 'outdial'))
})
