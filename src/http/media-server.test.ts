import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { silentLogger } from '../runtime/logger.ts'
import { parseRange } from './byte-range.ts'
import { createMediaServer } from './media-server.ts'

const id = '5b0f8f5e-3f0e-5d0e-9a41-6c1de0a4b6f2'
const absent = '5b0f8f5e-3f0e-5d0e-9a41-6c1de0a4b6f3'
const bytes = Buffer.from('0123456789')

const server = createMediaServer({
  host: '127.0.0.1',
  port: 0,
  logger: silentLogger,
  verify: (url) => {
    const recordingId = url.pathname.split('/')[2]
    return url.searchParams.get('s') === 'good' && recordingId ? { recordingId } : undefined
  },
  openRecording: async (recordingId) =>
    recordingId === id
      ? {
          size: bytes.length,
          stream: ({ start, end }) => Readable.from([bytes.subarray(start, end + 1)]),
        }
      : undefined,
})

before(() => server.start())
after(() => server.stop())

const ask = async (headers: Record<string, string> = {}, method = 'GET', path?: string) => {
  const response = await fetch(
    `http://127.0.0.1:${server.port}${path ?? `/recordings/${id}?e=1&k=1&s=good`}`,
    { method, headers },
  )
  const header = (name: string) => response.headers.get(name)
  return { status: response.status, header, text: await response.text() }
}

test('a download is complete, typed, named, and cached by no proxy', async () => {
  const { status, header, text } = await ask()
  assert.equal(status, 200)
  assert.equal(text, '0123456789')
  assert.equal(header('content-type'), 'audio/mpeg')
  assert.equal(header('content-length'), '10')
  assert.equal(header('accept-ranges'), 'bytes')
  assert.equal(header('content-disposition'), `attachment; filename="${id}.mp3"`)
  assert.equal(header('cache-control'), 'private, no-store')
  assert.equal(header('set-cookie'), null)
  assert.equal(header('etag'), `"${id}"`)
})

test('HEAD tells the same without the bytes', async () => {
  const { status, header, text } = await ask({ range: 'bytes=0-1' }, 'HEAD')
  assert.equal(status, 200)
  assert.equal(header('content-length'), '10')
  assert.equal(text, '')
})

test('a single range is served, one beyond the end refused', async () => {
  const one = await ask({ range: 'bytes=2-4' })
  assert.equal(one.status, 206)
  assert.equal(one.text, '234')
  assert.equal(one.header('content-range'), 'bytes 2-4/10')
  assert.equal((await ask({ range: 'bytes=-3' })).text, '789')
  assert.equal((await ask({ range: 'bytes=8-' })).text, '89')
  const beyond = await ask({ range: 'bytes=10-' })
  assert.equal(beyond.status, 416)
  assert.equal(beyond.header('content-range'), 'bytes */10')
  assert.equal((await ask({ range: 'bytes=0-1,3-4' })).status, 200)
})

test('If-Range and If-None-Match are about the recording itself', async () => {
  const range = 'bytes=0-1'
  assert.equal((await ask({ range, 'if-range': `"${id}"` })).status, 206)
  assert.equal((await ask({ range, 'if-range': '"other"' })).status, 200)
  assert.equal((await ask({ 'if-none-match': `"x", W/"${id}"` })).status, 304)
})

test('an altered URL, any other path and any other method get no detail', async () => {
  for (const path of [
    `/recordings/${id}?s=bad`,
    `/recordings/${id}`,
    '/recordings/..%2f..%2fetc?s=good',
    '/',
    `//recordings/${id}?s=good`,
  ]) {
    const { status, text } = await ask({}, 'GET', path)
    assert.equal(status, 403, path)
    assert.equal(text, '')
  }
  assert.equal((await ask({}, 'GET', `/recordings/${absent}?s=good`)).status, 404)
  const deleted = await ask({}, 'DELETE')
  assert.equal(deleted.status, 405)
  assert.equal(deleted.header('allow'), 'GET, HEAD')
})

test('a range never leaves the recording', () => {
  const part = fc.option(fc.nat(30), { nil: '' })
  fc.assert(
    fc.property(part, part, fc.nat(20), (first, last, size) => {
      const range = parseRange(`bytes=${first}-${last}`, size)
      if (range === undefined || range === 'unsatisfiable') return
      assert.ok(range.start >= 0 && range.start <= range.end && range.end < size)
    }),
  )
})
