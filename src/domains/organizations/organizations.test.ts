import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Database } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { watchHints } from '../../../tests/support/watch-hints.ts'
import { createOrganization } from './create-organization.ts'
import {
  addDoNotCall,
  checkPhoneNumber,
  isOnDoNotCallList,
  listDoNotCall,
  removeDoNotCall,
} from './do-not-call.ts'
import { createFirstOrganization } from './create-first-organization.ts'
import {
  installationSecrets,
  retireInstallationSecrets,
  rotateInstallationSecret,
} from './installation-secrets.ts'
import { InvalidFileError } from './invalid-file.ts'
import { listOrganizations } from './list-organizations.ts'
import { decideModes, findOrganization } from './organization-store.ts'
import { setOrganization, type SetOrganizationInput } from './set-organization.ts'

let test: TestDatabase
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

const set = (
  id: string,
  input: SetOrganizationInput,
  db: Pick<Database, 'transaction'> = test.db,
) => db.transaction((tx) => setOrganization(tx, id, input))

describe('a new organization', () => {
  it('has API access, the newest version and the default policy', async () => {
    const made = await createOrganization(test.db, { name: '  Acme  ' })
    assert.deepEqual(Object.keys(made), [
      'id',
      'name',
      'mode',
      'default_version',
      'public_api_enabled',
      'concurrency',
      'created_at',
      'updated_at',
    ])
    assert.equal(made.name, 'Acme')
    assert.equal(made.public_api_enabled, true)
    assert.equal(made.default_version, '2026-07-16')
    const record = await findOrganization(test.db, made.id)
    assert.deepEqual(record?.policy.allowedCountries, ['US'])
    assert.ok((await listOrganizations(test.db)).some(({ id }) => id === made.id))
  })

  for (const [what, input] of [
    ['an empty name', { name: ' \u3000' }],
    ['a name of 201 characters', { name: '😀'.repeat(201) }],
    ['no concurrency', { name: 'A', concurrency: 0 }],
    ['half a call', { name: 'A', concurrency: 1.5 }],
  ] as const) {
    it(`is refused for ${what}`, () =>
      assert.rejects(createOrganization(test.db, input), { name: 'OperatorError' }))
  }

  it('counts code points, not code units', async () => {
    assert.ok(await createOrganization(test.db, { name: '😀'.repeat(200) }))
  })

  it('is refused for a bad policy with every problem of it', async () => {
    await assert.rejects(
      createOrganization(test.db, { name: 'A', policy: { windows: [] } }),
      (error) => error instanceof InvalidFileError && error.problems.length === 3,
    )
  })
})

describe('setting an organization', () => {
  it('changes what is given and nothing else', async () => {
    const { id } = await createOrganization(test.db, { name: 'A', concurrency: 3 })
    await set(id, { publicApiEnabled: false })
    await set(id, { rateLimits: { read: 10 } })
    const changed = await set(id, { rateLimits: { write: 20 } })
    assert.equal(changed.public_api_enabled, false)
    assert.equal(changed.concurrency, 3)
    assert.deepEqual((await findOrganization(test.db, id))?.rateLimits, { read: 10, write: 20 })
  })

  it('replaces the whole policy', async () => {
    const { id } = await createOrganization(test.db, { name: 'A' })
    const policy = {
      time_zone: 'UTC',
      windows: [{ weekdays: ['monday'], start_time: '10:00', end_time: '11:00' }],
      allowed_countries: 'all',
    }
    const attempts = async () =>
      (await findOrganization(test.db, id))?.policy.attemptsPerNumberPerDay
    await set(id, { policy: { ...policy, attempts_per_number_per_day: 2 } })
    await set(id, { concurrency: 5 })
    assert.equal(await attempts(), 2)
    await set(id, { policy })
    assert.equal(await attempts(), undefined)
    assert.equal((await findOrganization(test.db, id))?.policy.timeZone, 'UTC')
  })

  it('notifies other nodes only after the commit', async () => {
    const { id } = await createOrganization(test.db, { name: 'A' })
    const hints = watchHints(() => test.db)
    await set(id, { concurrency: 2 }, hints)
    assert.deepEqual(hints.take(), [{ channel: 'outdial_organizations', payload: id }])
    await assert.rejects(set(id, { rateLimits: { read: 0 } }, hints))
    assert.deepEqual(hints.take(), [])
  })

  for (const [what, input, message] of [
    ['an unknown bucket', { rateLimits: { reading: 1 } }, /no bucket "reading"/],
    ['a rate of nothing', { rateLimits: { read: 0 } }, /whole number/],
    ['a bucket of the prototype', { rateLimits: { constructor: 1 } }, /no bucket/],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { id } = await createOrganization(test.db, { name: 'A' })
      await assert.rejects(set(id, input), { name: 'OperatorError', message })
    })
  }

  it('refuses an unknown organization and a malformed id', async () => {
    for (const id of [newId(), 'acme', '']) {
      await assert.rejects(set(id, { concurrency: 1 }), /There is no organization/)
    }
  })
})

describe('the first organization', () => {
  it('is one, also for simultaneous callers', async () => {
    const empty = await createTestDatabase()
    try {
      const all = await Promise.all(
        Array.from({ length: 20 }, () => createFirstOrganization(empty.db)),
      )
      assert.deepEqual(
        all.flatMap((made) => made?.mode ?? []),
        ['sandbox'],
      )
    } finally {
      await empty.drop()
    }
  })

  it('is not created if an organization exists', async () => {
    await createOrganization(test.db, { name: 'A', mode: 'live' })
    assert.equal(await createFirstOrganization(test.db), undefined)
  })
})

describe('the mode of an organization', () => {
  it('decides its route', async () => {
    for (const [mode, route] of [
      ['sandbox', 'sandbox'],
      ['live', 'env'],
    ] as const) {
      const made = await createOrganization(test.db, { name: 'A', mode })
      assert.equal(made.mode, mode)
      assert.equal(await routeOfOrganization(made.id), route)
    }
  })

  it('is decided once for organizations from before there were modes, which wait until then', async () => {
    const { id } = await createOrganization(test.db, { name: 'A' })
    await execute(test.db, 'update organizations set mode = null where id = $1', [id])
    await execute(
      test.db,
      'update dispatch_organizations set route = null, ready = false where organization_id = $1',
      [id],
    )
    assert.equal((await findOrganization(test.db, id))?.mode, null)
    assert.equal(await decideModes(test.db, 'live'), 1)
    assert.equal((await findOrganization(test.db, id))?.mode, 'live')
    assert.equal(await routeOfOrganization(id), 'env')
    assert.equal(await decideModes(test.db, 'sandbox'), 0)
  })
})

const routeOfOrganization = async (id: string): Promise<string | null | undefined> =>
  (
    await execute<{ route: string | null }>(
      test.db,
      'select route from dispatch_organizations where organization_id = $1',
      [id],
    )
  )[0]?.route

describe('the do-not-call list', () => {
  it('belongs to one organization', async () => {
    const [a, b] = await Promise.all([
      createOrganization(test.db, { name: 'A' }),
      createOrganization(test.db, { name: 'B' }),
    ])
    await addDoNotCall(test.db, a.id, '+12025550110')
    assert.equal(await isOnDoNotCallList(test.db, a.id, '+12025550110'), true)
    assert.equal(await isOnDoNotCallList(test.db, b.id, '+12025550110'), false)
    assert.equal(await removeDoNotCall(test.db, b.id, '+12025550110'), false)
    assert.deepEqual(await listDoNotCall(test.db, b.id), [])
  })

  it('keeps the first request, and forgets on command', async () => {
    const { id } = await createOrganization(test.db, { name: 'A' })
    await addDoNotCall(test.db, id, '+12025550111', newId())
    await addDoNotCall(test.db, id, '+12025550111')
    await addDoNotCall(test.db, id, '+12025550110')
    const list = await listDoNotCall(test.db, id)
    assert.deepEqual(
      list.map(({ phone_number, origin }) => [phone_number, origin]),
      [
        ['+12025550110', 'operator'],
        ['+12025550111', 'opt_out'],
      ],
    )
    assert.deepEqual(await listDoNotCall(test.db, id, '+12025550110'), list.slice(1))
    assert.equal(await removeDoNotCall(test.db, id, '+12025550111'), true)
    assert.equal(await isOnDoNotCallList(test.db, id, '+12025550111'), false)
  })

  it('takes only E.164', () => {
    assert.equal(checkPhoneNumber('+12025550110'), '+12025550110')
    for (const text of ['12025550110', '+0202555', '+1 202 5550110', '+1202', '']) {
      assert.throws(() => checkPhoneNumber(text), { name: 'OperatorError' })
    }
  })
})

describe('installation secrets', () => {
  it('are created once, also for simultaneous callers', async () => {
    const all = await Promise.all(
      Array.from({ length: 10 }, () => installationSecrets(test.db, 'cursor')),
    )
    assert.equal(new Set(all.map(([{ secret }]) => secret.toString('hex'))).size, 1)
    assert.equal(all[0]?.[0].secret.length, 32)
  })

  it('rotate: the newest signs, the one before verifies', async () => {
    const [first] = await installationSecrets(test.db, 'media')
    for (let rotation = 0; rotation < 10; rotation += 1) {
      await rotateInstallationSecret(test.db, 'media')
    }
    const secrets = await installationSecrets(test.db, 'media')
    assert.deepEqual(
      secrets.map(({ keyId }) => Number(keyId)),
      [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
    )
    assert.deepEqual(secrets.at(-1)?.secret, first.secret)
  })

  it('are not retired while a URL they signed may be valid', async () => {
    const before = await installationSecrets(test.db, 'media')
    assert.equal(await retireInstallationSecrets(test.db, 'media'), 0)
    const aged = {
      name: 'test.age',
      text: `update installation_secrets set created_at = now() - interval '3 hours' where purpose = 'media' and key_id::bigint <= 10`,
    }
    await test.db.run(aged, [])
    assert.equal(await retireInstallationSecrets(test.db, 'media'), 9)
    const left = await installationSecrets(test.db, 'media')
    assert.deepEqual(
      left.map(({ keyId, isSettled }) => [keyId, isSettled]),
      [
        ['11', false],
        ['10', true],
      ],
    )
    assert.deepEqual(
      left.map(({ secret }) => secret),
      before.slice(0, 2).map(({ secret }) => secret),
    )
  })
})
