import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startApiFixture, type ApiFixture } from '../../../tests/support/api-fixture.ts'
import { assertResponse, refused } from '../../../tests/support/response-table.ts'
import { sendRaw } from '../../../tests/support/raw-http.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { createMediaServer } from '../media-server.ts'

let api: ApiFixture
let key: string
let served = 0

const media = createMediaServer({
  host: '127.0.0.1',
  port: 0,
  logger: silentLogger,
  verify: () => undefined,
  openRecording: async () => undefined,
})

before(async () => {
  api = await startApiFixture({ onServed: ({ status }) => (served += status < 400 ? 1 : 0) })
  key = api.makeKey()
  await media.start()
})
after(async () => {
  await api.stop()
  await media.stop()
})

const hidden = (): string =>
  `GET /agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`

/** Heads whose requests end in two places, by two readings; each with a body that ends at once by one of them. */
const ambiguous = [
  ['HTTP/1.0', 'Transfer-Encoding: chunked\r\nConnection: keep-alive', '0\r\n\r\n'],
  ['HTTP/1.0', 'Transfer-Encoding: chunked\r\nContent-Length: 5', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: chunked\r\nContent-Length: 5', '0\r\n\r\n'],
  ['HTTP/1.1', 'Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: identity, chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: chunked, chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: gzip, chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: xchunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: chunked;q=1', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: "chunked"', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding: \x0bchunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding:', ''],
  ['HTTP/1.1', 'Transfer-Encoding: identity', ''],
  ['HTTP/1.1', 'Transfer-Encoding : chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'Transfer-Encoding:\r\n chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'X: y\r\n Transfer-Encoding: chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'X: y\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'X: y\rTransfer-Encoding: chunked', '0\r\n\r\n'],
  ['HTTP/1.1', 'X: y\0\r\nContent-Length: 0', ''],
  ['HTTP/1.1', 'Content-Length: 0\r\nContent-Length: 0', ''],
  ['HTTP/1.1', 'Content-Length: 0\r\nContent-Length: 7', ''],
  ['HTTP/1.1', 'Content-Length: 0, 0', ''],
  ['HTTP/1.1', 'Content-Length: 0 7', ''],
  ['HTTP/1.1', 'Content-Length: +0', ''],
  ['HTTP/1.1', 'Content-Length: -0', ''],
  ['HTTP/1.1', 'Content-Length: 0x0', ''],
  ['HTTP/1.1', 'Content-Length:', ''],
  ['HTTP/1.1', 'Content-Length: 99999999999999999999', ''],
  ['HTTP/1.2', 'Content-Length: 0', ''],
  ['HTTP/2.0', 'Content-Length: 0', ''],
] as const

test('a request whose end is not clear is refused, and nothing behind it is served', async () => {
  for (const method of ['GET', 'POST']) {
    for (const [version, lines, body] of ambiguous) {
      const what = `${method} ${version} ${lines}`
      const head = `${method} /agents ${version}\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${lines}\r\n\r\n`
      served = 0
      const responses = await sendRaw(api.port, head + body + hidden())
      assert.equal(responses.length, 1, what)
      assertResponse(responses[0], refused('validation_error', { connection: 'close' }))
      assert.equal(served, 0, what)
    }
  }
})

test('neither are pages without a key nor downloads served to one', async () => {
  const head =
    'POST /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n'
  for (const port of [api.port, media.port]) {
    const responses = await sendRaw(
      port,
      `${head}0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`,
    )
    assert.deepEqual(
      responses.map(({ status, headers }) => [status, headers['connection']]),
      [[400, 'close']],
    )
  }
})

test('a head without a version, of HTTP/0.9, is refused', async () => {
  const responses = await sendRaw(api.port, `GET /agents\r\n\r\n${hidden()}`)
  assert.deepEqual(
    responses.map(({ status }) => status),
    [400],
  )
})
