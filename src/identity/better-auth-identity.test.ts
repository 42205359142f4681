import type { OrganizationId } from '../contract/organization-id.ts'
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { sql } from '../database/database.ts'
import { createOrganization } from '../domains/organizations/create-organization.ts'
import { createIdentity } from './better-auth-identity.ts'
import type { Asker, Identity, OpenedSession } from './identity.ts'
import { addMember } from './member-store.ts'
import { tokenOf } from './session-cookie.ts'
import { findSession, listSessions } from './session-store.ts'

const client = { address: '192.0.2.1', userAgent: 'a browser' }
const password = 'correct horse battery'

let database: TestDatabase
let identity: Identity
let organizationId: OrganizationId

before(async () => {
  database = await createTestDatabase()
  identity = createIdentity({ database: database.db, secret: Buffer.alloc(32, 7) })
  organizationId = (await createOrganization(database.db, { name: 'Tests' })).id
})
after(() => database.drop())

const makeAccount = async (name: string) => {
  const email = `${name}@example.test`
  const account = await database.db.transaction(async (tx) => {
    const made = await identity.createAccount(tx, { name, email, password })
    await addMember(tx, organizationId, made.id, 'admin')
    return made
  })
  return { ...account, email }
}

const open = async (email: string, secret = password, code?: string): Promise<OpenedSession> => {
  const outcome = await identity.signIn({ email, password: secret, code }, client)
  if (outcome.kind !== 'signed_in') assert.fail(outcome.kind)
  return outcome
}

const sessionOf = (cookie: string) => findSession(database.db, tokenOf(cookie) ?? '')

const askerOf = ({ accountId, cookie }: OpenedSession, email: string): Asker => ({
  accountId,
  email,
  organizationId,
  cookie,
  client,
})

const record = async (): Promise<void> => undefined

test('a password opens a session that is found by its cookie, and whose token is not stored', async () => {
  const { id, email } = await makeAccount('ada')
  const { cookie } = await open(email.toUpperCase())
  const found = await sessionOf(cookie)
  assert.equal(found?.account_id, id)
  assert.equal(found?.role, 'admin')
  const [listed] = await listSessions(database.db, id)
  assert.equal(listed?.ip_address, client.address)
  assert.equal(listed?.user_agent, client.userAgent)
  const rows = await database.db.rows<{ token: string }>(
    sql('test.tokens', 'select token from account_sessions'),
    [],
  )
  assert.ok(rows.every(({ token }) => !cookie.includes(token)))
})

test('a wrong password and an unknown account are told the same', async () => {
  const { email } = await makeAccount('bob')
  const refusals: string[] = []
  for (const each of [email, 'nobody@example.test'])
    refusals.push(
      await identity.signIn({ email: each, password: 'wrong one' }, client).then(
        ({ kind }) => kind,
        (error: Error) => error.message,
      ),
    )
  assert.equal(refusals[0], refusals[1])
  assert.match(refusals[0] ?? '', /wrong/)
})

test('ten failures lock the account for its address, the right password too, and no other address', async () => {
  const { email } = await makeAccount('cyd')
  const from = { ...client, address: '192.0.2.77' }
  // All at once: the attempts are counted before the passwords are looked at.
  const tries = await Promise.allSettled(
    Array.from({ length: 30 }, () => identity.signIn({ email, password: 'wrong one' }, from)),
  )
  const codes = tries.map((each) => each.status === 'rejected' && (each.reason as { code: string }))
  const locked = codes.filter((each) => each && each.code === 'rate_limit_exceeded')
  assert.equal(locked.length, 20)
  await assert.rejects(identity.signIn({ email, password }, from), {
    code: 'rate_limit_exceeded',
  })
  assert.equal((await identity.signIn({ email, password }, client)).kind, 'signed_in')
})

test('a change of the password ends all sessions and opens one', async () => {
  const { id, email } = await makeAccount('dan')
  const [first, second] = [await open(email), await open(email)]
  await assert.rejects(
    identity.changePassword(
      askerOf(first, email),
      { current: 'not it', wanted: 'another one' },
      record,
    ),
    { code: 'validation_error' },
  )
  const changed = await identity.changePassword(
    askerOf(first, email),
    { current: password, wanted: 'another password' },
    record,
  )
  assert.equal(await sessionOf(first.cookie), undefined)
  assert.equal(await sessionOf(second.cookie), undefined)
  assert.equal((await sessionOf(changed.cookie))?.account_id, id)
  await open(email, 'another password')
  await assert.rejects(open(email))
})

test('what is recorded with a change fails with it', async () => {
  const { email } = await makeAccount('eve')
  const session = await open(email)
  await assert.rejects(
    identity.changePassword(
      askerOf(session, email),
      { current: password, wanted: 'another password' },
      () => Promise.reject(new Error('no room')),
    ),
    /no room/,
  )
  assert.notEqual(await sessionOf(session.cookie), undefined)
  await open(email)
})

test('a reset by an operator ends all sessions', async () => {
  const { id, email } = await makeAccount('fay')
  const session = await open(email)
  await database.db.transaction((tx) => identity.resetPassword(tx, id, 'set by hand'))
  assert.equal(await sessionOf(session.cookie), undefined)
  await open(email, 'set by hand')
})

test('a second factor is asked for once it is confirmed; a recovery code works once', async () => {
  const { email } = await makeAccount('gus')
  const session = await open(email)
  const begun = await identity.beginTwoFactor(askerOf(session, email), password, record)
  const secret = new URL(begun.uri).searchParams.get('secret') ?? ''
  assert.equal((await identity.signIn({ email, password }, client)).kind, 'signed_in')
  await assert.rejects(identity.confirmTwoFactor(askerOf(session, email), '000000', record), {
    code: 'validation_error',
  })
  const confirmed = await identity.confirmTwoFactor(askerOf(session, email), totp(secret), record)
  assert.equal(await sessionOf(session.cookie), undefined)
  assert.equal((await sessionOf(confirmed.cookie))?.two_factor_enabled, true)

  assert.equal((await identity.signIn({ email, password }, client)).kind, 'code_required')
  await assert.rejects(open(email, password, '000000'))
  await open(email, password, totp(secret))
  const [code = ''] = begun.recoveryCodes
  await open(email, password, code)
  await assert.rejects(open(email, password, code))

  const renewed = await identity.renewRecoveryCodes(askerOf(confirmed, email), password, record)
  await open(email, password, renewed[0])
  await identity.endTwoFactor(askerOf(confirmed, email), password, record)
  await open(email)
})

/** RFC 6238 with SHA-1, six digits and thirty seconds. */
const totp = (secret: string): string => {
  const bits = Array.from(secret.replaceAll('=', '')).map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  )
  const key = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const mac = createHmac('sha1', key).update(counter).digest()
  const value = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(value % 1_000_000).padStart(6, '0')
}
