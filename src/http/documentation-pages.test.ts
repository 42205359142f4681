import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startApiFixture, type ApiFixture } from '../../tests/support/api-fixture.ts'
import { operations } from '../contract/operations.ts'
import { createDocumentationPages } from './documentation-pages.ts'
import { html } from './html.ts'

let api: ApiFixture

before(async () => {
  api = await startApiFixture({ pages: createDocumentationPages('https://api.example.test') })
})
after(() => api.stop())

test('the document is public and says where this installation is', async () => {
  const response = await fetch(`${api.url}/openapi.json`)
  assert.equal(response.status, 200)
  assert.ok(response.headers.get('x-request-id'))
  const document = JSON.parse(await response.text())
  assert.deepEqual(document.servers[0].url, 'https://api.example.test')
})

test('the page shows every operation and every schema, loads nothing and runs nothing', async () => {
  const response = await fetch(`${api.url}/docs`)
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  const page = await response.text()
  for (const [name, { path }] of Object.entries(operations)) {
    assert.ok(page.includes(`<section id="${name}">`), name)
    assert.ok(page.includes(`<code>${path}</code>`), path)
  }
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g))
    assert.ok(page.includes(`id="${target}"`), target)
  assert.doesNotMatch(page, /<script|<link|<img|src=|\[object|undefined/)
})

test('what is put into markup is escaped', () => {
  assert.equal(html`<p>${'<b a="1">&\''}</p>`.text, '<p>&lt;b a=&quot;1&quot;&gt;&amp;&#39;</p>')
  assert.equal(html`${[html`<i>${'a'}</i>`, 'b&']}`.text, '<i>a</i>b&amp;')
})
