import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createApplicationPages, withHeaders, type BuildState } from './application-pages.ts'

const makeFolder = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-pages-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const build = (folder: string): void => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Outdial</title>')
  writeFileSync(join(folder, 'assets', 'main-1.js'), 'start()')
  writeFileSync(join(folder, 'assets', 'main-1.js.gz'), gzipSync('start()'))
  writeFileSync(join(folder, '.outdial-built'), 'hash')
}

const contentAt = async (pages: ReturnType<typeof createApplicationPages>, path: string) =>
  await pages.find(path)?.()

test('a path of a person is the application, a file is itself, another file is none', async (t) => {
  const folder = makeFolder(t)
  build(folder)
  const pages = createApplicationPages(folder, () => ({ kind: 'built' }))
  await pages.load()
  for (const path of ['/', '/calls', '/calls/019c6b2e', '/invite/secret', '/../../etc/passwd']) {
    const page = await contentAt(pages, path)
    assert.match(String(page?.body), /<title>Outdial/, path)
  }
  const script = await contentAt(pages, '/assets/main-1.js')
  assert.equal(String(script?.body), 'start()')
  assert.ok(script?.gzipped)
  assert.match(script.headers?.['Cache-Control'] ?? '', /immutable/)
  for (const path of ['/assets/main-2.js', '/assets/../.outdial-built', '/assets/main-1.js.gz'])
    assert.equal(pages.find(path), undefined, path)
})

test('before the build the page says that it goes on, and after a failed one why', async (t) => {
  let state: BuildState = { kind: 'building' }
  const folder = makeFolder(t)
  const pages = createApplicationPages(folder, () => state)
  const waiting = await contentAt(pages, '/calls')
  assert.equal(waiting?.status, 503)
  assert.match(String(waiting?.body), /being built/)
  assert.match(String(waiting?.body), /http-equiv="refresh"/)
  state = { kind: 'failed', why: 'No <registry>.' }
  const failed = await contentAt(pages, '/calls')
  assert.match(String(failed?.body), /could not be built/)
  assert.match(String(failed?.body), /No &#60;registry&#62;\./)
  assert.doesNotMatch(String(failed?.body), /refresh/)
  build(folder)
  await pages.load()
  assert.equal((await contentAt(pages, '/calls'))?.status, undefined)
})

test('a page takes the headers of its server beside its own', async () => {
  const page = withHeaders(() => ({ type: 'text/html', body: '', headers: { A: '1' } }), ['B', '2'])
  assert.deepEqual((await page()).headers, { A: '1', B: '2' })
})
