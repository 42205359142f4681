import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { sendRaw } from '../../tests/support/raw-http.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { ApiError } from '../contract/api-error.ts'
import { defaultRateLimits } from '../contract/buckets.ts'
import { op } from '../contract/define-operation.ts'
import type { Principal } from '../contract/principal.ts'
import { latestVersion } from '../contract/versions.ts'
import type { OrganizationId } from '../contract/organization-id.ts'
import { newId } from '../runtime/ids.ts'
import { silentLogger } from '../runtime/logger.ts'
import { createApiServer } from './api-server.ts'

const note = z.strictObject({ text: z.string() })
const notes = {
  tag: 'Notes',
  summary: '',
  description: '',
  bucket: 'write',
  response: note,
  example: {},
} as const

/** What a dashboard could serve: one operation for programs, one for people, one for both. */
const operations = {
  readNote: op('GET /notes', { ...notes, scope: 'calls:read' }),
  writeNote: op('POST /notes', {
    ...notes,
    scope: 'calls:write',
    role: ['owner', 'admin'],
    idempotency: 'required',
    body: note,
  }),
  deleteNote: op('DELETE /notes/{note_id}', {
    ...notes,
    role: ['owner', 'admin'],
    params: z.strictObject({ note_id: z.string() }),
  }),
}

const organizationId = newId() as OrganizationId
const member = { organizationId, defaultVersion: latestVersion }
const rateLimits = { ...defaultRateLimits, write: 40 }
const session = (role: 'owner' | 'admin' | 'viewer', limits = rateLimits): Principal => ({
  ...member,
  kind: 'session',
  userId: newId(),
  sessionId: newId(),
  name: 'Some one',
  email: 'some@example.test',
  hasTwoFactor: false,
  administersInstallation: false,
  role,
  rateLimits: limits,
})
const programOf = (limits = rateLimits): Principal => ({
  ...member,
  kind: 'key',
  apiKeyId: newId(),
  scopes: ['calls:read', 'calls:write'],
  publicApiEnabled: true,
  rateLimits: limits,
  keyRateLimits: {},
})

const senders: Readonly<Record<string, Principal>> = {
  ada: session('owner'),
  eve: session('admin'),
  vic: session('viewer'),
  sam: session('owner', { ...rateLimits, write: 1 }),
  program: programOf(),
}

let database: TestDatabase
let server: ReturnType<typeof createApiServer>

before(async () => {
  database = await createTestDatabase()
  server = createApiServer({
    operations,
    handlers: {
      readNote: async () => ({ text: 'read' }),
      writeNote: async ({ body }, { principal }) => ({ text: `${body.text} by ${principal.kind}` }),
      deleteNote: async ({ params, body }) => ({
        text: `${params.note_id} ${JSON.stringify(body)}`,
      }),
    },
    parts: undefined,
    database: database.db,
    authenticate: ({ header }) => {
      const found = senders[header('cookie') ?? '']
      if (!found) throw new ApiError('authentication_required', 'Sign in.')
      return found
    },
    cursorSecrets: [Buffer.alloc(32)],
    logger: silentLogger,
    host: '127.0.0.1',
    port: 0,
    isDraining: () => false,
    readiness: async () => ({ isReady: true, checks: {} }),
  })
  await server.start()
})
after(async () => {
  await server.stop()
  await database.drop()
})

const ask = async (cookie: string, method: string, path = '/notes', body?: unknown, key = 'k') => {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: {
      cookie,
      ...(method === 'POST' && { 'content-type': 'application/json', 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as {
    text?: string
    error?: { code: string; message: string }
  }
  return {
    ...answer,
    status: response.status,
    code: answer.error?.code,
    isReplay: response.headers.has('idempotent-replayed'),
    remaining: Number(response.headers.get('ratelimit-remaining')),
  }
}

test('the authenticator that the server was given decides who asks', async () => {
  assert.equal((await ask('nobody', 'GET')).code, 'authentication_required')
  assert.equal((await ask('program', 'GET')).text, 'read')
})

test('a key needs a scope, a login a role, and neither gets what is for the other', async () => {
  assert.equal((await ask('program', 'DELETE', '/notes/1')).code, 'insufficient_scope')
  const programs = await ask('ada', 'GET')
  assert.deepEqual([programs.status, programs.code], [403, 'insufficient_scope'])
  const viewer = await ask('vic', 'DELETE', '/notes/1')
  assert.equal(viewer.code, 'insufficient_scope')
  assert.match(viewer.error?.message ?? '', /owner or admin/)
  assert.equal((await ask('eve', 'DELETE', '/notes/1')).status, 200)
})

test('an Idempotency-Key is an administrator’s own, and the organization’s keys share theirs', async () => {
  const replays = []
  for (const sender of ['program', 'ada', 'eve', 'program', 'ada', 'eve'])
    replays.push((await ask(sender, 'POST', '/notes', { text: 'n' })).isReplay)
  assert.deepEqual(replays, [false, false, false, true, true, true])
  assert.equal((await ask('ada', 'POST', '/notes', { text: 'm' })).code, 'idempotency_conflict')
  const { userId } = senders['ada'] as Extract<Principal, { kind: 'session' }>
  const forged = await ask('program', 'POST', '/notes', { text: 'n' }, `${userId} k`)
  assert.deepEqual([forged.text, forged.isReplay], ['n by key', false])
})

test('an administrator’s requests leave the allowance of the organization’s programs alone', async () => {
  const before = (await ask('program', 'GET')).remaining
  assert.equal((await ask('sam', 'DELETE', '/notes/1')).status, 200)
  assert.equal((await ask('sam', 'DELETE', '/notes/1')).code, 'rate_limit_exceeded')
  assert.equal((await ask('ada', 'DELETE', '/notes/1')).status, 200)
  assert.equal((await ask('program', 'GET')).remaining, before - 1)
})

test('DELETE has no body: one that comes along is neither read nor judged', async () => {
  const plain = await ask('ada', 'DELETE', '/notes/7')
  assert.deepEqual([plain.status, plain.text], [200, '7 {}'])
  const bodies = [
    'Content-Length: 5\r\n\r\n{"a":',
    'Content-Type: text/plain\r\nContent-Length: 1\r\n\r\nx',
    'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
  ]
  for (const rest of bodies) {
    const head = `DELETE /notes/7 HTTP/1.1\r\nHost: x\r\nCookie: ada\r\n`
    const next = 'GET /notes HTTP/1.1\r\nHost: x\r\nCookie: program\r\nConnection: close\r\n\r\n'
    const [deleted, ...later] = await sendRaw(server.port, `${head}${rest}${next}`)
    assert.equal(deleted?.body, '{"text":"7 {}"}')
    // No byte of the body is taken for a request. Node skips a declared body, an open one may end the connection.
    const statuses = later.map(({ status }) => status)
    if (!rest.startsWith('Transfer') || statuses.length > 0) assert.deepEqual(statuses, [200])
  }
})
