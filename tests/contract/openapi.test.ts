import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Operation } from '../../src/contract/define-operation.ts'
import { openApiDocument } from '../../src/contract/openapi/document.ts'
import { operations } from '../../src/contract/operations.ts'

const published = join(import.meta.dirname, '../../docs/api/openapi.json')

const document = JSON.parse(
  JSON.stringify(openApiDocument(operations, 'http://127.0.0.1:4000')),
) as {
  paths: Record<string, Record<string, { parameters: object[]; responses: object }>>
}

test('the published document is generated from the table', () => {
  assert.deepEqual(
    JSON.parse(readFileSync(published, 'utf8')),
    document,
    'Run: node scripts/generate-openapi.ts',
  )
})

test('every operation of the table is described, and nothing else', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = Object.values<Operation>(operations).map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(described.sort(), served.sort())
})

test('every reference can be resolved', () => {
  const text = JSON.stringify(document)
  const references = [...text.matchAll(/"\$ref":"#([^"]+)"/g)].map(([, path]) => path ?? '')
  assert.ok(references.length > 100)
  for (const reference of new Set(references)) {
    const target = reference
      .slice(1)
      .split('/')
      .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document)
    assert.ok(target, reference)
  }
})
