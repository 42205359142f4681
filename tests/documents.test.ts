import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { envExample, settingsTable } from '../scripts/settings-documents.ts'
import { statesDocument } from '../scripts/state-drawings.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('docs/states.md is drawn from the tables that the code runs', () => {
  assert.equal(read('docs/states.md'), statesDocument())
})

const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

for (const document of documents)
  test(`${document} links only to what exists`, () => {
    const targets = [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
      ([, to = '']) => to,
    )
    const missing = targets.filter((to) => !existsSync(join(root, dirname(document), to)))
    assert.deepEqual(missing, [])
  })

test('every file that ARCHITECTURE.md names exists', () => {
  const named = [
    ...read('ARCHITECTURE.md').matchAll(/`((?:src|tests|scripts|migrations)\/[\w./-]+\.\w+)`/g),
  ]
  assert.ok(named.length > 10)
  const missing = named.map(([, path = '']) => path).filter((path) => !existsSync(join(root, path)))
  assert.deepEqual(missing, [])
})

test('.env.example and docs/settings.md agree with the settings', () => {
  assert.equal(read('.env.example'), envExample())
  assert.ok(read('docs/settings.md').includes(settingsTable()))
})
