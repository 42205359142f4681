import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { startApiFixture, type ApiFixture } from '../../../tests/support/api-fixture.ts'
import {
  aCall,
  assertResponse,
  invalid,
  ok,
  refused,
} from '../../../tests/support/response-table.ts'
import { sendRaw } from '../../../tests/support/raw-http.ts'

let api: ApiFixture
let head: string

before(async () => {
  api = await startApiFixture()
  head = `host: x\r\nauthorization: Bearer ${api.makeKey()}\r\n`
})
after(() => api.stop())

const closing = { connection: 'close' }
const malformed = refused('validation_error', closing)

test('what the parser refuses gets the envelope, the headers and a closed connection', async () => {
  const broken = [
    'hello\r\n\r\n',
    'GET /agents HTTP/9.9\r\n\r\n',
    'GET /agents HTTP/1.1\r\nno colon here\r\n\r\n',
    'GET /agents HTTP/1.1\r\nhost: x\r\nbad name: y\r\n\r\n',
    `GET /agents HTTP/1.1\r\nhost: x\r\nx-filler: ${'x'.repeat(17_000)}\r\n\r\n`,
    'POST /calls HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
    'POST /calls HTTP/1.1\r\ncontent-length: -1\r\n\r\n',
  ]
  for (const bytes of broken) {
    const responses = await sendRaw(api.port, bytes)
    assert.equal(responses.length, 1, bytes.slice(0, 60))
    assertResponse(responses[0], malformed)
  }
})

test('what the parser refuses gets a response under the request id that came with it', async () => {
  const faults = ['bad name: y', `x-filler: ${'x'.repeat(17_000)}`, 'content-length: -1']
  for (const line of faults) {
    const bytes = `GET /agents HTTP/1.1\r\n${head}x-request-id: mine\r\n${line}\r\n\r\n`
    const [response] = await sendRaw(api.port, bytes)
    assertResponse(response, refused('validation_error', { ...closing, 'x-request-id': 'mine' }))
  }
})

test('half a request gets one response when its sender is done', async () => {
  const [response] = await sendRaw(api.port, 'GET /agents HTTP/1.1\r\nhost: x', { end: true })
  assertResponse(response, malformed)
})

test('half a body gets the response of its request', async () => {
  const start = `POST ${aCall}/cancel HTTP/1.1\r\n${head}content-type: application/json\r\n`
  const half = await sendRaw(api.port, `${start}content-length: 50\r\n\r\n{`, { end: true })
  assert.equal(half.length, 1)
  assertResponse(half[0], refused('validation_error'))
  assert.ok(half[0]?.headers['ratelimit-limit'])
  const badChunk = await sendRaw(api.port, `${start}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n`)
  assert.equal(badChunk.length, 1)
  assertResponse(badChunk[0], refused('validation_error', closing))
})

test('garbage behind a valid request does not overtake its response', async () => {
  const responses = await sendRaw(api.port, `GET /agents HTTP/1.1\r\n${head}\r\nrubbish\r\n\r\n`)
  assertResponse(responses[0], ok(200))
})

test('a body in an unsupported coding is refused', async () => {
  const start = `POST ${aCall}/cancel HTTP/1.1\r\n${head}content-type: application/json\r\nconnection: close\r\n`
  const coded = `${start}transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`
  const [response] = await sendRaw(api.port, coded)
  assertResponse(response, invalid(['transfer-encoding', 'invalid_format']))
})

test('a body that streams past 1 MiB is refused while it streams', async () => {
  const start = `POST ${aCall}/cancel HTTP/1.1\r\n${head}content-type: application/json\r\n`
  const chunk = `40000\r\n${'x'.repeat(0x40000)}\r\n`
  const body = `${chunk.repeat(6)}0\r\n\r\n`
  const responses = await sendRaw(api.port, `${start}transfer-encoding: chunked\r\n\r\n${body}`)
  assert.equal(responses.length, 1)
  assertResponse(responses[0], refused('request_too_large', closing))
})

test('a declared length over 1 MiB is refused before a byte of it, and never requested', async () => {
  const start = `POST ${aCall}/cancel HTTP/1.1\r\n${head}content-type: application/json\r\n`
  const responses = await sendRaw(
    api.port,
    `${start}expect: 100-continue\r\ncontent-length: 1048577\r\n\r\n`,
    { end: true },
  )
  assertResponse(responses[0], refused('request_too_large', closing))
})

test('a client that waits for 100 continues when its body is welcome', async () => {
  const socket = connect(api.port, '127.0.0.1')
  const said: string[] = []
  const start = `POST ${aCall}/cancel HTTP/1.1\r\n${head}content-type: application/json\r\nconnection: close\r\n`
  socket.write(`${start}expect: 100-continue\r\ncontent-length: 2\r\n\r\n`)
  for await (const bytes of socket) {
    said.push(String(bytes))
    if (said.length === 1) socket.write('{}')
  }
  assert.match(said[0] ?? '', /^HTTP\/1\.1 100 /)
  assert.match(said.slice(1).join(''), /^HTTP\/1\.1 200 /)
})

test('an unknown expectation causes no foreign response', async () => {
  const [response] = await sendRaw(
    api.port,
    `GET /agents HTTP/1.1\r\n${head}expect: tea\r\nconnection: close\r\n\r\n`,
  )
  assertResponse(response, ok(200))
})

test('a connection stays open for the next request after an error', async () => {
  const one = `GET /nowhere HTTP/1.1\r\n${head}\r\n`
  const last = `GET /agents HTTP/1.1\r\n${head}connection: close\r\n\r\n`
  const small = `POST /nowhere HTTP/1.1\r\n${head}content-length: 2\r\n\r\n{}`
  const responses = await sendRaw(api.port, one + small + last)
  assert.deepEqual(
    responses.map(({ status }) => status),
    [404, 404, 200],
  )
})
