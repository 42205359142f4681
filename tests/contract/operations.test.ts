import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorCodesOf } from '../../src/contract/openapi/responses.ts'
import { hasBody, type Operation } from '../../src/contract/define-operation.ts'
import { errorEnvelope } from '../../src/contract/error-envelope.ts'
import { errorStatuses } from '../../src/contract/errors.ts'
import { operations } from '../../src/contract/operations.ts'
import { scopes } from '../../src/contract/scopes.ts'
import { startApiFixture, type ApiFixture } from '../support/api-fixture.ts'

let api: ApiFixture
let key: string

before(async () => {
  api = await startApiFixture()
  key = api.makeKey()
})
after(() => api.stop())

const anId = '019c6b2e-7a40-7c31-9d0f-2f6a51b7ca11'

interface Change {
  readonly method?: string
  readonly secret?: string | undefined
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/**
 * The operation's documented request, with changes. Every response must have the common headers and, if an error,
 * the envelope.
 */
const ask = async (operation: Operation, change: Change = {}) => {
  const secret = 'secret' in change ? change.secret : key
  const method = change.method ?? operation.method
  const sendsBody = hasBody(operation.method) && method !== 'GET' && method !== 'HEAD'
  const headers = {
    authorization: secret && `Bearer ${secret}`,
    'content-type': sendsBody ? 'application/json' : undefined,
    'idempotency-key': operation.idempotency === 'none' ? undefined : 'k',
    ...change.headers,
  }
  const response = await fetch(`${api.url}${pathOf(operation)}${change.query ?? ''}`, {
    method,
    headers: Object.entries(headers).filter((pair): pair is [string, string] => Boolean(pair[1])),
    ...(sendsBody ? { body: JSON.stringify(change.body ?? operation.bodyExample) } : {}),
  })
  assert.equal(response.headers.get('service-version'), '2026-07-16')
  assert.match(response.headers.get('x-request-id') ?? '', /^[A-Za-z0-9._:-]{1,64}$/)
  const text = await response.text()
  const body: unknown = text === '' ? undefined : JSON.parse(text)
  if (!response.ok && method !== 'HEAD') assertEnvelope(operation, response.status, body)
  return { status: response.status, headers: response.headers, body }
}

const assertEnvelope = (operation: Operation, status: number, body: unknown): void => {
  const { error } = errorEnvelope.parse(body)
  assert.equal(errorStatuses[error.code], status)
  assert.ok(errorCodesOf(operation).includes(error.code), `${error.code} is not documented`)
}

const codeOf = (body: unknown): string => errorEnvelope.parse(body).error.code

const pathOf = ({ path }: Operation): string => path.replaceAll(/\{\w+\}/g, anId)

const isMetered = (headers: Headers): boolean =>
  ['limit', 'remaining', 'reset', 'policy'].every((name) => headers.has(`ratelimit-${name}`))

for (const [name, operation] of Object.entries<Operation>(operations)) {
  test(`${name}: the documented request gets the documented answer`, async () => {
    const { status, headers, body } = await ask(operation)
    assert.ok(operation.statuses.includes(status as 200))
    assert.ok(operation.response.safeParse(body).success)
    assert.ok(isMetered(headers))
    const isCreate = operation.location !== undefined && status !== 200
    assert.equal(headers.has('location'), isCreate)
    assert.match(headers.get('ratelimit-policy') ?? '', new RegExp(`^"${operation.bucket}";`))
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  })

  test(`${name}: its examples keep to its schemas`, () => {
    assert.ok(operation.response.safeParse(operation.example).success)
    assert.ok(operation.body.safeParse(operation.bodyExample).success)
  })

  test(`${name}: no key is 401 without rate-limit headers`, async () => {
    const { status, headers, body } = await ask(operation, { secret: undefined })
    assert.equal(status, 401)
    assert.equal(codeOf(body), 'authentication_required')
    assert.equal(headers.get('www-authenticate'), 'Bearer')
    assert.ok(!headers.has('ratelimit-limit'))
  })

  test(`${name}: every scope but its own is 403, its own alone suffices`, async () => {
    const others = scopes.filter((scope) => !operation.anyScope.includes(scope))
    const refused = await ask(operation, { secret: api.makeKey({ scopes: others }) })
    assert.equal(refused.status, 403)
    assert.equal(codeOf(refused.body), 'insufficient_scope')
    assert.ok(isMetered(refused.headers))
    for (const scope of operation.anyScope) {
      const { status } = await ask(operation, { secret: api.makeKey({ scopes: [scope] }) })
      assert.ok(status < 300)
    }
  })

  test(`${name}: a disabled organization is 403 without rate-limit headers`, async () => {
    const { status, headers, body } = await ask(operation, {
      secret: api.makeKey({ publicApiEnabled: false }),
    })
    assert.equal(status, 403)
    assert.equal(codeOf(body), 'organization_not_enabled')
    assert.ok(!headers.has('ratelimit-limit'))
  })

  test(`${name}: other methods are 405 with every known method in Allow`, async () => {
    const known = Object.values<Operation>(operations)
      .filter(({ path }) => path === operation.path)
      .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE']) {
      if (known.includes(method)) continue
      const { status, headers } = await ask(operation, { method })
      assert.equal(status, 405)
      assert.deepEqual(headers.get('allow')?.split(', ').sort(), [...known].sort())
      assert.ok(!headers.has('ratelimit-limit'))
    }
  })

  test(`${name}: an unsupported version is 400 and tells the supported ones`, async () => {
    const { body } = await ask(operation, { headers: { 'service-version': '2020-01-01' } })
    const { error } = errorEnvelope.parse(body)
    assert.equal(error.code, 'unsupported_version')
    assert.deepEqual(error.details, { supported_versions: ['2026-07-16'] })
  })

  test(`${name}: an unknown parameter is 400 unknown_field`, async () => {
    const { status, headers, body } = await ask(operation, { query: '?surprise=1' })
    assert.equal(status, 400)
    assert.ok(isMetered(headers))
    const { details } = errorEnvelope.parse(body).error
    assert.deepEqual(details, { fields: [{ path: 'surprise', code: 'unknown_field' }] })
  })

  if (operation.method === 'GET') {
    test(`${name}: HEAD answers as GET without a body`, async () => {
      const [asked, head] = [await ask(operation), await ask(operation, { method: 'HEAD' })]
      assert.equal(head.status, asked.status)
      assert.equal(head.body, undefined)
      assert.equal(head.headers.get('content-length'), asked.headers.get('content-length'))
    })
  } else {
    test(`${name}: an unknown member is 400 unknown_field`, async () => {
      const { body } = await ask(operation, {
        body: { ...(operation.bodyExample as object), surprise: 1 },
      })
      const { details } = errorEnvelope.parse(body).error
      assert.deepEqual(details, { fields: [{ path: 'surprise', code: 'unknown_field' }] })
    })

    test(`${name}: an Idempotency-Key is ${operation.idempotency}`, async () => {
      const without = await ask(operation, { headers: { 'idempotency-key': undefined } })
      if (operation.idempotency === 'required')
        assert.equal(codeOf(without.body), 'idempotency_key_required')
      else assert.ok(without.status < 300)
      const malformed = await ask(operation, { headers: { 'idempotency-key': 'k'.repeat(256) } })
      assert.equal(malformed.status, operation.idempotency === 'none' ? 201 : 400)
    })
  }
}
