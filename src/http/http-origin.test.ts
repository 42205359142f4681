import assert from 'node:assert/strict'
import { test } from 'node:test'
import { httpOrigin } from './http-origin.ts'

const cases = [
  ['127.0.0.1', 'http://127.0.0.1:4000'],
  ['api.internal', 'http://api.internal:4000'],
  ['::1', 'http://[::1]:4000'],
  ['0.0.0.0', 'http://127.0.0.1:4000'],
  ['::', 'http://[::1]:4000'],
] as const

for (const [host, origin] of cases)
  test(`a server on ${host} is told as ${origin}`, () => {
    assert.equal(httpOrigin(host, 4000), origin)
    assert.ok(URL.canParse(origin))
  })
