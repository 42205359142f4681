import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { retireInstallationSecrets, rotateInstallationSecret } from './installation-secrets.ts'
import { newId } from '../../runtime/ids.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { signUrl, verifySignedUrl } from '../../storage/signed-url.ts'
import { openSigningKeys, type SigningKeys } from './signing-keys.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const now = new Date('2026-11-22T11:00:00Z')

const sign = (keys: SigningKeys): URL =>
  new URL(
    signUrl({
      origin: 'http://media.example',
      recordingId: newId(),
      expiresAt: new Date(now.getTime() + 3_600_000),
      key: keys.signing,
    }),
  )

const isValid = (keys: SigningKeys, url: URL): boolean =>
  verifySignedUrl(url, keys.all, now) !== undefined

/** Moves the secrets of a key id and older ones into the past. */
const age = (through: string, interval: string) =>
  execute(
    database.db,
    `update installation_secrets set created_at = created_at - $2::interval
      where purpose = 'media' and key_id::bigint <= $1`,
    [through, interval],
  )

test('a rotation reaches every node before it signs, and old URLs stay valid until their secret is retired', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const nodes = [
    await openSigningKeys(database.db, silentLogger),
    await openSigningKeys(database.db, silentLogger),
  ] as const
  for (const node of nodes) await node.start()
  const look = async (): Promise<void> => {
    t.mock.timers.tick(3_000)
    for (const node of nodes) await node.stop()
    for (const node of nodes) await node.start()
  }
  await age('1', '1 minute')
  const old = sign(nodes[0])
  const keyId = await rotateInstallationSecret(database.db, 'media')
  await look()
  // Known, so that no node refuses it, but not used yet.
  for (const node of nodes) {
    assert.equal(node.all[0]?.keyId, keyId)
    assert.equal(node.signing.keyId, '1')
  }
  await age(keyId, '10 seconds')
  await look()
  const fresh = sign(nodes[0])
  assert.equal(fresh.searchParams.get('k'), keyId)
  for (const node of nodes) {
    assert.ok(isValid(node, old))
    assert.ok(isValid(node, fresh))
  }
  await age(keyId, '3 hours')
  assert.equal(await retireInstallationSecrets(database.db, 'media'), 1)
  await look()
  for (const node of nodes) {
    assert.ok(!isValid(node, old))
    assert.ok(isValid(node, fresh))
  }
  for (const node of nodes) await node.stop()
})
