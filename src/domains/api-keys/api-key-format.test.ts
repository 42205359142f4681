import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiKeyPattern, hashApiKey, makeApiKey, parseApiKey } from './api-key-format.ts'

test('a new key parses, has its stored hash, and matches the pattern of secret scanners', () => {
  const { secret, prefix, lastFour, hash } = makeApiKey()
  assert.deepEqual(parseApiKey(secret), { prefix })
  assert.ok(secret.startsWith(prefix))
  assert.ok(secret.endsWith(lastFour))
  assert.ok(hash.equals(hashApiKey(secret)))
  assert.match(`key=${secret}\n`, new RegExp(`\\b${apiKeyPattern}\\b`))
})

test('two keys differ in every part', () => {
  const keys = Array.from({ length: 500 }, makeApiKey)
  assert.equal(new Set(keys.map(({ prefix }) => prefix)).size, 500)
  assert.equal(new Set(keys.map(({ secret }) => secret.split('_')[3])).size, 500)
})

test('every single mistyped character is detected', () => {
  const { secret } = makeApiKey()
  for (let at = 0; at < secret.length; at += 1) {
    const other = secret[at] === 'x' ? 'y' : 'x'
    assert.equal(parseApiKey(secret.slice(0, at) + other + secret.slice(at + 1)), undefined)
  }
})

test('text around a key is not a key', () => {
  const { secret } = makeApiKey()
  for (const text of ['', secret.slice(1), `${secret}0`, ` ${secret}`, `${secret}\n`])
    assert.equal(parseApiKey(text), undefined)
})
