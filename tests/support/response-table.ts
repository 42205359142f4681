import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorStatuses, type ErrorCode, type FieldCode } from '../../src/contract/errors.ts'
import { startApiFixture, type ApiFixture } from './api-fixture.ts'
import { sendRaw, type RawResponse } from './raw-http.ts'

type HeaderValues = Readonly<Record<string, string | readonly string[]>>

/** One request, byte for byte: no HTTP client corrects it. */
export interface Request {
  readonly line: string
  readonly headers: HeaderValues
  readonly body?: string | Buffer
}

export interface Expected {
  readonly status: number
  readonly code?: ErrorCode
  readonly fields?: readonly { readonly path: string; readonly code: FieldCode }[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Its name, the request, the expected response. */
export type ResponseCase = readonly [name: string, request: Request, expected: Expected]

export const aCall = '/calls/019c6b2e-7a40-7c31-9d0f-2f6a51b7ca11'
export const json = { 'content-type': 'application/json' }

export const send = (line: string, headers: HeaderValues = {}): Request => ({ line, headers })

export const get = (path: string, headers: HeaderValues = {}): Request =>
  send(`GET ${path}`, headers)

/** A POST of JSON with an Idempotency-Key. */
export const post = (path: string, body: string | Buffer, headers: HeaderValues = {}): Request => ({
  line: `POST ${path}`,
  headers: { ...json, 'idempotency-key': 'k', ...headers },
  body,
})

export const ok = (status: number, headers: Readonly<Record<string, string>> = {}): Expected => ({
  status,
  headers,
})

export const refused = (
  code: ErrorCode,
  headers: Readonly<Record<string, string>> = {},
): Expected => ({ status: errorStatuses[code], code, headers })

/** `validation_error` over these fields: path and code alternate. */
export const invalid = (
  ...pairs: readonly (readonly [path: string, code: FieldCode])[]
): Expected => ({
  ...refused('validation_error'),
  fields: pairs.map(([path, code]) => ({ path, code })),
})

export const allowing = (methods: string): Expected =>
  refused('method_not_allowed', { allow: methods })

/** Makes one test of each case, each over its own connection to one server with a key for everything. */
export const testResponses = (cases: readonly ResponseCase[]): void => {
  let api: ApiFixture
  let key: string
  before(async () => {
    api = await startApiFixture()
    key = api.makeKey()
  })
  after(() => api.stop())
  for (const [name, request, expected] of cases) {
    test(`${name} is answered with ${expected.status} ${expected.code ?? ''}`, async () => {
      const isHead = request.line.startsWith('HEAD')
      const responses = await sendRaw(api.port, bytesOf(request, key), { isHead })
      assert.equal(responses.length, 1)
      assertResponse(responses[0], expected, isHead)
    })
  }
}

/** The request's bytes; `authorization` among its headers replaces the key's. */
export const bytesOf = ({ line, headers, body }: Request, key: string): Buffer => {
  const all = { host: 'x', authorization: `Bearer ${key}`, ...headers, connection: 'close' }
  const lines = Object.entries(all).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  )
  const content = Buffer.from(body ?? '')
  const length = body === undefined ? '' : `content-length: ${content.length}\r\n`
  return Buffer.concat([
    Buffer.from(`${line} HTTP/1.1\r\n${lines.join('')}${length}\r\n`, 'latin1'),
    content,
  ])
}

/** Status, envelope, and the headers of every response. */
export const assertResponse = (
  response: RawResponse | undefined,
  expected: Expected,
  isHead = false,
): void => {
  assert.ok(response)
  assert.equal(response.status, expected.status, response.body)
  assertStandingHeaders(response)
  for (const [name, value] of Object.entries(expected.headers ?? {}))
    assert.equal(response.headers[name], value)
  if (isHead) return assert.equal(response.body, '')
  const body = JSON.parse(response.body)
  if (!expected.code) return
  assert.equal(body.error.code, expected.code)
  assert.equal(body.error.request_id, response.headers['x-request-id'])
  assert.equal(typeof body.error.message, 'string')
  if (expected.fields) assert.deepEqual(body.error.details?.fields, expected.fields)
}

const assertStandingHeaders = ({ headers }: RawResponse): void => {
  assert.equal(headers['service-version'], '2026-07-16')
  assert.match(headers['x-request-id'] ?? '', /^[A-Za-z0-9._:-]{1,64}$/)
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-content-type-options'], 'nosniff')
}
