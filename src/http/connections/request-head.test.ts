import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readHead } from './request-head.ts'

const read = (head: string) => readHead(Buffer.from(head, 'latin1'), 16_384)

test('a head is read without the blanks around its values', () => {
  assert.deepEqual(
    read('GET /a?b HTTP/1.1\r\nHost: \t a b\t \r\nX:\r\nno header\r\n : x\r\nY : z\r\n\r\nbody'),
    {
      method: 'GET',
      url: '/a?b',
      httpVersion: '1.1',
      rawHeaders: ['Host', 'a b', 'X', ''],
    },
  )
})

test('only spaces and tabs are blanks', () => {
  assert.deepEqual(read('GET / HTTP/1.0\r\nA: \u00a0b\v\r\n')?.rawHeaders, ['A', '\u00a0b\v'])
})

test('what does not begin with a request line has no head', () => {
  for (const text of ['', 'GET /', 'GET / HTTP/2.0', 'GET  / HTTP/1.1', '\r\n'])
    assert.equal(read(text), undefined)
})
