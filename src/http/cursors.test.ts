import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { operations } from '../contract/operations.ts'
import { createCursors, type CursorScope } from './cursors.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

const secret = Buffer.alloc(32, 1)
const cursors = createCursors([secret])
const position = {
  sort: '2026-07-16 08:00:00.123456+00',
  id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7ca11',
}
const scope: CursorScope = {
  operation: operations.listCalls,
  organizationId: 'o1' as OrganizationId,
  params: {},
  query: { limit: 20, status: 'queued', created_after: undefined },
}
const isInvalid = {
  code: 'validation_error',
  details: { fields: [{ path: 'cursor', code: 'invalid_cursor' }] },
}

test('a cursor carries its position exactly', () => {
  const anyPosition = fc.record({ sort: fc.string(), id: fc.string() }, { noNullPrototype: true })
  fc.assert(
    fc.property(anyPosition, (given) => {
      assert.deepEqual(cursors.verify(cursors.sign(given, scope), scope), given)
    }),
  )
})

test('limit, include and expires_in may change between pages', () => {
  const query = { ...scope.query, limit: 5, cursor: 'x', include: 'download_url', expires_in: 60 }
  assert.deepEqual(cursors.verify(cursors.sign(position, scope), { ...scope, query }), position)
})

test('a cursor is of no use for another operation, organization, path or filter', () => {
  const cursor = cursors.sign(position, scope)
  const others: readonly CursorScope[] = [
    { ...scope, operation: operations.listContacts },
    { ...scope, organizationId: 'o2' as OrganizationId },
    { ...scope, params: { call_id: 'c' } },
    { ...scope, query: { ...scope.query, status: 'failed' } },
    { ...scope, query: { ...scope.query, created_after: 'x' } },
    { ...scope, query: { limit: 20 } },
  ]
  for (const other of others) assert.throws(() => cursors.verify(cursor, other), isInvalid)
})

test('no character of a cursor can be altered, added or taken away', () => {
  const cursor = cursors.sign(position, scope)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= .'
  for (let at = 0; at < cursor.length; at += 1) {
    const altered = alphabet
      .split('')
      .filter((character) => character !== cursor[at])
      .map((character) => cursor.slice(0, at) + character + cursor.slice(at + 1))
    const cut = cursor.slice(0, at) + cursor.slice(at + 1)
    for (const text of [...altered, cut, `${cursor}=`, `${cursor}A`])
      assert.throws(() => cursors.verify(text, scope), isInvalid)
  }
})

test('an older secret verifies until it is retired', () => {
  const cursor = cursors.sign(position, scope)
  const newer = Buffer.alloc(32, 2)
  assert.deepEqual(createCursors([newer, secret]).verify(cursor, scope), position)
  assert.throws(() => createCursors([newer]).verify(cursor, scope), isInvalid)
})
