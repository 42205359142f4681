import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { hashApiKey, parseApiKey } from './api-key-format.ts'
import { apiKey as apiKeySchema } from '../../contract/api-keys.ts'
import { defaultRateLimits } from '../../contract/buckets.ts'
import { scopes } from '../../contract/scopes.ts'
import type { Database } from '../../database/database.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { watchHints } from '../../../tests/support/watch-hints.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { setOrganization } from '../organizations/set-organization.ts'
import { createApiKey, type CreateApiKeyInput } from './create-api-key.ts'
import { listApiKeys } from './list-api-keys.ts'
import { createPrincipals } from './principals.ts'
import { renameApiKey } from './rename-api-key.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { rotateApiKey } from './rotate-api-key.ts'
import { revokeApiKey } from './revoke-api-key.ts'

let test: TestDatabase
let organizationId: OrganizationId
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  organizationId = (await createOrganization(test.db, { name: 'A' })).id
})

const make = (input: Partial<CreateApiKeyInput> = {}) =>
  createApiKey(test.db, { organizationId, name: 'Key', scopes: 'all', ...input })
const revoke = (id: string, db: Pick<Database, 'transaction'> = test.db) =>
  db.transaction((tx) => revokeApiKey(tx, id))

/** Counts the look-ups that reach the database. */
const counted = (db: Database): Database & { lookUps: number } => {
  const counting = {
    ...db,
    lookUps: 0,
    row: (async (...call: Parameters<Database['row']>) => {
      counting.lookUps += 1
      return db.row(...call)
    }) as Database['row'],
  }
  return counting
}

/** A node's principals with a manual clock. Without `start` it receives no notification. */
const principalsOn = (db: Database) => {
  const clock = createManualTime(new Date('2026-07-16T08:00:00Z'))
  return { clock, ...createPrincipals({ database: db, clock, logger: silentLogger }) }
}

describe('a rotated API key', () => {
  it('has the rights of the old one, which works until it is revoked', async () => {
    const old = await make({
      scopes: ['calls:read'],
      expiresAt: '2999-01-01T00:00:00Z',
      rateLimits: { read: 7 },
    })
    const made = await rotateApiKey(test.db, old.id)
    assert.notEqual(made.id, old.id)
    assert.notEqual(made.secret, old.secret)
    assert.deepEqual(
      [made.name, made.scopes, made.expires_at],
      [old.name, old.scopes, old.expires_at],
    )
    const keys = await listApiKeys(test.db, organizationId)
    assert.deepEqual(
      keys.map((key) => key.revoked_at),
      [undefined, undefined],
    )
    const rates = await test.db.rows<{ rate_limits: unknown }>(
      { name: 'test.rates', text: 'select rate_limits from api_keys where organization_id = $1' },
      [organizationId],
    )
    assert.deepEqual(rates, [{ rate_limits: { read: 7 } }, { rate_limits: { read: 7 } }])
  })

  it('is refused if the old one is unknown, revoked or expired', async () => {
    const revoked = await make()
    await revoke(revoked.id)
    const expired = await make({ expiresAt: '2001-01-01T00:00:00Z' })
    for (const id of [organizationId, 'no-id', revoked.id, expired.id])
      await assert.rejects(rotateApiKey(test.db, id), OperatorError)
  })
})

describe('a new API key', () => {
  it('shows its secret once and stores only a hash', async () => {
    const { secret, ...key } = await make({
      name: '  CRM  ',
      expiresAt: '2027-01-01T02:00:00+02:00',
    })
    assert.deepEqual(apiKeySchema.parse(key), key)
    assert.equal(key.name, 'CRM')
    assert.equal(key.expires_at, '2027-01-01T00:00:00.000Z')
    assert.equal(parseApiKey(secret)?.prefix, key.prefix)
    assert.equal(secret.slice(-4), key.last_four)
    assert.deepEqual(await listApiKeys(test.db, organizationId), [key])
    const everything = await test.db.rows<{ line: string }>(
      { name: 'test.dump', text: `select k::text as line from api_keys k` },
      [],
    )
    assert.ok(everything.every(({ line }) => !line.includes(secret.slice(20))))
  })

  it('has the requested scopes, in the order of the contract, each once', async () => {
    const key = await make({ scopes: ['contacts:write', 'calls:read', 'calls:read'] })
    assert.deepEqual(key.scopes, ['contacts:write', 'calls:read'])
    assert.deepEqual((await make()).scopes, [...scopes])
  })

  for (const [what, input, message] of [
    ['an unknown scope', { scopes: ['calls:read', 'calls:delete'] }, /no scope "calls:delete"/],
    ['no scope', { scopes: [] }, /at least one scope/],
    ['an empty name', { name: '' }, /1 to 200/],
    ['an expiry that is no instant', { expiresAt: 'tomorrow' }, /RFC 3339/],
    ['an unknown bucket', { rateLimits: { reads: 1 } }, /no bucket/],
    [
      'a rate above the default',
      { rateLimits: { read: defaultRateLimits.read + 1 } },
      /rate of read is 6000/,
    ],
    ['an unknown organization', { organizationId: newId() }, /no organization/],
    ['an organization that is no id', { organizationId: 'acme' }, /no organization/],
  ] as const) {
    it(`is refused for ${what}`, () =>
      assert.rejects(make(input), { name: 'OperatorError', message }))
  }

  it('may have its organization’s allowance, but not more', async () => {
    await test.db.transaction((tx) =>
      setOrganization(tx, organizationId, { rateLimits: { write: 10 } }),
    )
    await assert.rejects(make({ rateLimits: { write: 11 } }), /rate of write is 10/)
    assert.ok(await make({ rateLimits: { write: 10, read: 1 } }))
  })
})

describe('managing keys', () => {
  it('renames a key and nothing else', async () => {
    const { secret: _, ...key } = await make()
    const renamed = await renameApiKey(test.db, key.id, '  New ')
    assert.deepEqual({ ...renamed, updated_at: key.updated_at }, { ...key, name: 'New' })
    await assert.rejects(renameApiKey(test.db, key.id, ' '), { name: 'OperatorError' })
    await assert.rejects(renameApiKey(test.db, newId(), 'X'), /There is no API key/)
    await assert.rejects(renameApiKey(test.db, 'x', 'X'), /There is no API key/)
  })

  it('revokes once: the first instant stays', async () => {
    const { id } = await make()
    const hints = watchHints(() => test.db)
    const first = await revoke(id, hints)
    assert.deepEqual(await revoke(id), first)
    assert.ok(first.revoked_at)
    assert.deepEqual(hints.take(), [{ channel: 'outdial_api_keys', payload: id }])
    await assert.rejects(revoke(newId()), /There is no API key/)
  })

  it('lists the keys of one organization only', async () => {
    await make()
    const other = await createOrganization(test.db, { name: 'B' })
    assert.deepEqual(await listApiKeys(test.db, other.id), [])
  })
})

describe('finding the principal of a key', () => {
  it('returns organization, scopes, version and allowances', async () => {
    const key = await make({ scopes: ['calls:read'], rateLimits: { read: 7 } })
    await test.db.transaction((tx) =>
      setOrganization(tx, organizationId, { rateLimits: { write: 9 } }),
    )
    const { findPrincipal } = principalsOn(test.db)
    assert.deepEqual(await findPrincipal(hashApiKey(key.secret)), {
      kind: 'key',
      organizationId,
      apiKeyId: key.id,
      scopes: ['calls:read'],
      expiresAt: undefined,
      revokedAt: undefined,
      publicApiEnabled: true,
      defaultVersion: '2026-07-16',
      rateLimits: { ...defaultRateLimits, write: 9 },
      keyRateLimits: { read: 7 },
    })
    assert.equal(await findPrincipal(hashApiKey('od_live_unknown')), undefined)
  })

  it('sends one database query for many simultaneous requests', async () => {
    const hash = hashApiKey((await make()).secret)
    const db = counted(test.db)
    const { findPrincipal } = principalsOn(db)
    await Promise.all(Array.from({ length: 100 }, async () => findPrincipal(hash)))
    await findPrincipal(hash)
    assert.equal(db.lookUps, 1)
  })

  it('sees a revocation within a second although no notification arrives', async () => {
    const key = await make()
    const hash = hashApiKey(key.secret)
    const { findPrincipal, clock } = principalsOn(test.db)
    assert.equal((await findPrincipal(hash))?.revokedAt, undefined)
    await revoke(key.id)
    clock.advance(999)
    assert.ok((await findPrincipal(hash))?.revokedAt)
  })

  it('counts the age from before the query, however slow it was', async () => {
    const key = await make()
    const hash = hashApiKey(key.secret)
    const clock = createManualTime(new Date())
    const slow: Database = {
      ...test.db,
      row: (async (...call: Parameters<Database['row']>) => {
        const row = await test.db.row(...call)
        clock.advance(800)
        return row
      }) as Database['row'],
    }
    const { findPrincipal } = createPrincipals({ database: slow, clock, logger: silentLogger })
    await findPrincipal(hash)
    await revoke(key.id)
    clock.advance(150)
    assert.ok((await findPrincipal(hash))?.revokedAt)
  })

  it('sees a revocation at once when the notification arrives', async () => {
    const key = await make()
    const hash = hashApiKey(key.secret)
    const node = principalsOn(test.db)
    const heard = Promise.withResolvers<void>()
    await node.start()
    const listening = await test.db.listen('outdial_api_keys', (payload) => {
      if (payload === key.id) heard.resolve()
    })
    assert.equal((await node.findPrincipal(hash))?.revokedAt, undefined)
    await revoke(key.id)
    await heard.promise
    assert.ok((await node.findPrincipal(hash))?.revokedAt)
    await listening.stop()
    await node.stop()
  })

  it('tries again after a failure', async () => {
    const hash = hashApiKey((await make()).secret)
    let failures = 1
    const failing: Database = {
      ...test.db,
      row: (async (...call: Parameters<Database['row']>) => {
        if (failures-- > 0) throw new Error('connection lost')
        return test.db.row(...call)
      }) as Database['row'],
    }
    const { findPrincipal } = principalsOn(failing)
    await assert.rejects(async () => findPrincipal(hash), /connection lost/)
    assert.ok(await findPrincipal(hash))
  })
})

describe('the last use of a key', () => {
  const lastUse = async () => (await listApiKeys(test.db, organizationId))[0]?.last_used_at

  it('is written for many keys together, and never goes back', async () => {
    const hash = hashApiKey((await make()).secret)
    const node = principalsOn(test.db)
    await node.findPrincipal(hash)
    node.clock.advance(10_000)
    await node.findPrincipal(hash)
    assert.equal(await lastUse(), undefined)
    await node.flush()
    assert.equal(await lastUse(), '2026-07-16T08:00:10.000Z')
    const earlier = principalsOn(test.db)
    await earlier.findPrincipal(hash)
    await earlier.flush()
    assert.equal(await lastUse(), '2026-07-16T08:00:10.000Z')
  })

  it('is written when the node stops', async () => {
    const hash = hashApiKey((await make()).secret)
    const node = principalsOn(test.db)
    await node.start()
    await node.findPrincipal(hash)
    await node.stop()
    assert.equal(await lastUse(), '2026-07-16T08:00:00.000Z')
  })

  it('is not recorded for a key that no longer works', async () => {
    const revoked = await make()
    const expired = await make({ expiresAt: '2026-07-16T07:59:59Z' })
    await revoke(revoked.id)
    const node = principalsOn(test.db)
    await node.findPrincipal(hashApiKey(revoked.secret))
    await node.findPrincipal(hashApiKey(expired.secret))
    await node.flush()
    const keys = await listApiKeys(test.db, organizationId)
    assert.equal(keys.length, 2)
    assert.ok(keys.every(({ last_used_at }) => last_used_at === undefined))
  })
})
