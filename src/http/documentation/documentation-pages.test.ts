import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startApiFixture, type ApiFixture } from '../../../tests/support/api-fixture.ts'
import { createDocumentationPages } from './documentation-pages.ts'

let api: ApiFixture

before(async () => {
  api = await startApiFixture({ pages: createDocumentationPages(() => 'https://api.example.test') })
})
after(() => api.stop())

test('the document is public and contains the address of this installation', async () => {
  const response = await fetch(`${api.url}/openapi.json`)
  assert.equal(response.status, 200)
  assert.ok(response.headers.get('x-request-id'))
  const document = JSON.parse(await response.text())
  assert.deepEqual(document.servers[0].url, 'https://api.example.test')
})

test('the reference page names only files of this server, and each is served', async () => {
  const response = await fetch(`${api.url}/docs`)
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  const page = await response.text()
  const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target ?? '')
  assert.deepEqual(named, ['data:,', '/openapi.json', '/docs/scalar.js', '/docs/start.js'])
  for (const target of named.slice(1)) {
    const file = await fetch(api.url + target)
    assert.equal(file.status, 200, target)
    assert.notEqual(await file.text(), '')
  }
})

test('Scalar’s program is sent in gzip to clients that accept it', async () => {
  const ask = (encoding: string) =>
    fetch(`${api.url}/docs/scalar.js`, { headers: { 'accept-encoding': encoding } })
  const [plain, zipped] = await Promise.all([ask('identity'), ask('br, gzip')])
  assert.equal(plain.headers.get('content-encoding'), null)
  assert.equal(zipped.headers.get('content-encoding'), 'gzip')
  assert.equal(zipped.headers.get('vary'), 'Accept-Encoding')
  assert.ok(
    Number(zipped.headers.get('content-length')) < Number(plain.headers.get('content-length')) / 2,
  )
  assert.equal(await zipped.text(), await plain.text())
})
