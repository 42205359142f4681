import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { createOrganizationFixture } from '../../../tests/support/organization-fixture.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { listAppliedMigrations, listMigrations, migrate } from '../migrate.ts'
import { ArchiveError } from './archive-format.ts'
import { verifyArchive } from './archive-check.ts'
import { createArchiveWriter } from './archive-writer.ts'
import { backUp, type BackupObject } from './back-up.ts'
import { restore, RestoreRefusedError } from './restore.ts'
import { inOrder } from './table-order.ts'

const migrationsFolder = join(import.meta.dirname, '../../../migrations')
let folder = ''
let source: TestDatabase
let target: TestDatabase
before(async () => {
  source = await createTestDatabase()
})
after(() => source.drop())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outdial-backup-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const isObjectKey = (key: string): boolean => /^[\w./-]+$/.test(key)

interface OpenManifest {
  migrations: { name: string; checksum: string }[]
}

/** Another manifest in an uncompressed backup, with a new checksum. */
const rewrite = (plain: Buffer, change: (manifest: OpenManifest) => void): Buffer => {
  const start = 'OUTDIAL-BACKUP 1\n'.length
  const length = plain.readUInt32BE(start + 1)
  const manifest = JSON.parse(plain.toString('utf8', start + 5, start + 5 + length)) as OpenManifest
  change(manifest)
  const text = Buffer.from(JSON.stringify(manifest))
  const head = Buffer.from('M0000')
  head.writeUInt32BE(text.length, 1)
  const rest = plain.subarray(start + 5 + length)
  return reseal(Buffer.concat([plain.subarray(0, start), head, text, rest]))
}

/** The checksum for deliberately changed bytes. */
const reseal = (plain: Buffer): Buffer => {
  const end = plain.lastIndexOf('{"sha256"') - 5
  const sha256 = createHash('sha256').update(plain.subarray(0, end)).digest('hex')
  const sealed = Buffer.from(plain)
  sealed.write(sha256, end + 5 + '{"sha256":"'.length, 'latin1')
  return sealed
}

async function* objects(...all: BackupObject[]): AsyncGenerator<BackupObject> {
  yield* all
}
const archive = (name = 'backup'): string => join(folder, name)
const write = (path = archive(), ...all: BackupObject[]) =>
  backUp({
    connection: source.connection,
    path,
    now: new Date('2026-11-20T10:00:00Z'),
    listObjects: () => objects(...all),
  })

const put: { key: string; bytes: string }[] = []
const read = (
  path = archive(),
  connection = target.connection,
  putObject = async (key: string, bytes: Uint8Array): Promise<void> =>
    void put.push({ key, bytes: Buffer.from(bytes).toString() }),
) =>
  restore({
    connection,
    path,
    migrationsFolder,
    tableOfUse: 'organizations',
    isObjectKey,
    requireRoom: async () => undefined,
    taskHere: (task) => task.replace(/^(encode):there$/, '$1:here'),
    putObject,
    logger: silentLogger,
  })

/** Every row of every table as text, sorted. */
const contents = async (connection: pg.ClientConfig): Promise<Record<string, string[]>> => {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'schema_migrations'`,
    )
    const all: Record<string, string[]> = {}
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from ${pg.escapeIdentifier(name)} t order by 1`,
      )
      all[name] = rows.map(({ row }) => row)
    }
    const jobs = await client.query<{ row: string }>(
      `select concat_ws('|', task_identifier, key, max_attempts, priority, run_at) as row
         from graphile_worker.jobs order by 1`,
    )
    return { ...all, jobs: jobs.rows.map(({ row }) => row) }
  } finally {
    await client.end()
  }
}

const dropSchema = async (connection: pg.ClientConfig): Promise<void> => {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query('drop schema public cascade; drop schema graphile_worker cascade')
  await client.query('create schema public')
  await client.end()
}

describe('a backup', () => {
  before(async () => {
    const ours = await createOrganizationFixture(source.db)
    const odd = 'Tab\tnewline\nbackslash\\ N: \\N quote" \' ünïcödé 👩‍👧'
    await execute(source.db, 'update organizations set name = $2 where id = $1', [
      ours.organizationId,
      odd,
    ])
    for (let index = 0; index < 20; index += 1) await ours.placeCall(`+1202555${1000 + index}`)
    await execute(
      source.db,
      `insert into transcript_turns (organization_id, call_id, sequence, id, speaker, text, audio_offset_ms)
       select organization_id, id, 1, id, 'agent', repeat($1, 500), 0 from calls`,
      [odd],
    )
    await execute(
      source.db,
      `insert into installation_secrets (purpose, key_id, secret) values ('media', '1', '\\x00ff5c0a')`,
    )
    await execute(
      source.db,
      `select graphile_worker.add_job('summarize_call', '{"call_id": "\\u00e9"}', null, '2030-01-01', 8, 'key:1', 3)`,
    )
    await execute(
      source.db,
      `select graphile_worker.add_job('summarize_call', '{}', 'a queue', '2030-01-01', 8, 'key:2')`,
    )
  })

  const withTarget = (work: () => Promise<void>) => async () => {
    target = await createTestDatabase()
    put.length = 0
    try {
      await work()
    } finally {
      await target.drop()
    }
  }

  it(
    'comes back row for row, with jobs and objects',
    withTarget(async () => {
      const large = Buffer.alloc(3_000_000, 'a')
      const report = await write(
        archive(),
        { key: 'org/a.mp3', bytes: Buffer.from('sound') },
        { key: 'org/empty', bytes: Buffer.alloc(0) },
        { key: 'org/large', bytes: large },
      )
      assert.equal(report.tables['calls'], 20)
      assert.deepEqual([report.jobs, report.objects], [2, 3])
      assert.equal(report.bytes, statSync(archive()).size)
      assert.equal(statSync(archive()).mode & 0o777, 0o600)
      const restored = await read()
      assert.equal(restored.created_at, '2026-11-20T10:00:00.000Z')
      assert.deepEqual(await contents(target.connection), await contents(source.connection))
      assert.deepEqual(
        put.map(({ key, bytes }) => [key, bytes.length]),
        [
          ['org/a.mp3', 5],
          ['org/empty', 0],
          ['org/large', 3_000_000],
        ],
      )
      assert.equal(put[0]?.bytes, 'sound')
    }),
  )

  it(
    'gives jobs of another node to this node',
    withTarget(async () => {
      await execute(
        source.db,
        `select graphile_worker.add_job('encode:there', '{}', max_attempts := 25, job_key := 'key:3')`,
      )
      try {
        await write()
      } finally {
        await execute(source.db, `select graphile_worker.remove_job('key:3')`)
      }
      await read()
      const { jobs = [] } = await contents(target.connection)
      assert.deepEqual(
        jobs.map((job) => job.split('|').slice(0, 3).join(' ')),
        ['encode:here key:3 25', 'summarize_call key:1 8', 'summarize_call key:2 8'],
      )
    }),
  )

  it(
    'leaves triggers and foreign keys enabled after a restore',
    withTarget(async () => {
      await write()
      await read()
      const before = await contents(target.connection)
      await createOrganizationFixture(target.db)
      const now = await contents(target.connection)
      assert.equal(
        now['dispatch_organizations']?.length,
        (before['dispatch_organizations']?.length ?? 0) + 1,
      )
      await assert.rejects(
        execute(target.db, `delete from organizations`),
        /foreign key constraint/,
      )
    }),
  )

  it(
    'is one snapshot, whatever is written meanwhile',
    withTarget(async () => {
      const now = await contents(source.connection)
      await backUp({
        connection: source.connection,
        path: archive(),
        now: new Date(),
        // The rows are written by now; the snapshot's view of other rows must not have moved.
        listObjects: async function* (snapshot) {
          await createOrganizationFixture(source.db)
          const rows = await snapshot.rows<{ id: string }>(
            { name: 'test.organizations', text: 'select id from organizations' },
            [],
          )
          assert.equal(rows.length, now['organizations']?.length)
          yield* objects()
        },
      })
      await read()
      assert.deepEqual(await contents(target.connection), now)
    }),
  )

  it(
    'goes into a database without a schema, and is refused by one in use',
    withTarget(async () => {
      await write()
      await dropSchema(target.connection)
      await read()
      assert.deepEqual(await contents(target.connection), await contents(source.connection))
      await assert.rejects(read(), (error: Error) => {
        assert.ok(error instanceof RestoreRefusedError)
        return /in use/.test(error.message)
      })
      assert.deepEqual(await contents(target.connection), await contents(source.connection))
    }),
  )

  it(
    'from an older level is migrated after it is loaded',
    withTarget(async () => {
      const older = await createTestDatabase()
      const migrating = { folder: migrationsFolder, logger: silentLogger }
      try {
        await dropSchema(older.connection)
        const through = '0003-results.sql'
        await migrate({ connection: older.connection, ...migrating, through })
        assert.equal((await listAppliedMigrations(older.connection)).at(-1)?.name, through)
        await execute(
          older.db,
          `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy)
           values (gen_random_uuid(), 'Of old', '2026-07-16', true, 3, '{}')`,
        )
        await backUp({
          connection: older.connection,
          path: archive(),
          now: new Date(),
          listObjects: () => objects(),
        })
      } finally {
        await older.drop()
      }
      await assert.rejects(read(), /The database is newer/)
      await dropSchema(target.connection)
      await read()
      assert.deepEqual(
        await listAppliedMigrations(target.connection),
        await listMigrations(migrationsFolder),
      )
      assert.match((await contents(target.connection))['organizations']?.[0] ?? '', /Of old/)
    }),
  )

  it(
    'is refused if it names an unknown table or column, and leaves nothing',
    withTarget(async () => {
      await write()
      const plain = gunzipSync(readFileSync(archive())).toString('latin1')
      const [head = '', column = ''] =
        /"name":"contacts","columns":\["([a-z_]+)"/.exec(plain) ?? assert.fail('no contacts')
      const forged = {
        'a table pg_class ': head.replace('contacts', 'pg_class'),
        'a table contacts ': head.replace(column, 'x'.repeat(column.length)),
      }
      for (const [problem, other] of Object.entries(forged)) {
        const altered = Buffer.from(plain.replace(head, other), 'latin1')
        writeFileSync(archive('forged'), gzipSync(reseal(altered)))
        await assert.rejects(read(archive('forged')), new RegExp(problem))
        assert.deepEqual((await contents(target.connection))['organizations'], [])
      }
    }),
  )

  it(
    'from a newer or an edited level is refused',
    withTarget(async () => {
      await write()
      const newer = gzipSync(
        rewrite(gunzipSync(readFileSync(archive())), (manifest) => {
          manifest.migrations.push({ name: '9999-later.sql', checksum: 'x' })
        }),
      )
      writeFileSync(archive('newer'), newer)
      await assert.rejects(read(archive('newer')), /another version of Outdial.*9999-later/)
      const edited = gzipSync(
        rewrite(gunzipSync(readFileSync(archive())), (manifest) => {
          manifest.migrations[0]!.checksum = 'edited'
        }),
      )
      writeFileSync(archive('edited'), edited)
      await assert.rejects(read(archive('edited')), /another version of Outdial/)
    }),
  )

  it(
    'that fails to load leaves the database empty, and can be tried again',
    withTarget(async () => {
      await write()
      // A turn of a call that is missing in the backup.
      const broken = gunzipSync(readFileSync(archive()))
      const at = broken.indexOf('\t+12025551000\t')
      assert.ok(at > 0)
      broken.write('x', at, 'latin1')
      writeFileSync(archive('broken'), gzipSync(reseal(broken)))
      await assert.rejects(read(archive('broken')))
      assert.deepEqual((await contents(target.connection))['organizations'], [])
      await read()
      assert.deepEqual(await contents(target.connection), await contents(source.connection))
    }),
  )

  it(
    'whose objects do not fit leaves the database empty, and can be tried again',
    withTarget(async () => {
      await write(archive(), { key: 'org/a.mp3', bytes: Buffer.from('sound') })
      const full = read(archive(), target.connection, () => Promise.reject(new Error('disk full')))
      await assert.rejects(full, /disk full/)
      assert.deepEqual((await contents(target.connection))['organizations'], [])
      await read()
      assert.deepEqual(await contents(target.connection), await contents(source.connection))
      assert.deepEqual(put, [{ key: 'org/a.mp3', bytes: 'sound' }])
    }),
  )

  it(
    'of a database that Outdial never used is refused by a sentence',
    withTarget(async () => {
      await dropSchema(target.connection)
      const backup = backUp({
        connection: target.connection,
        path: archive(),
        now: new Date(),
        listObjects: () => objects(),
      })
      await assert.rejects(backup, /holds nothing of Outdial.* check OUTDIAL_DATA and DATABASE_URL/)
      assert.deepEqual(readdirSync(folder), [])
    }),
  )

  it('that fails leaves no file, complete or partial', async () => {
    const failing = backUp({
      connection: source.connection,
      path: archive(),
      now: new Date(),
      listObjects: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => Promise.reject(new Error('the storage is away')),
        }),
      }),
    })
    await assert.rejects(failing, /the storage is away/)
    assert.deepEqual(readdirSync(folder), [])
    await assert.rejects(write(join(folder, 'no', 'such', 'folder')), { code: 'ENOENT' })
  })
})

describe('a backup file', () => {
  const sample = async (): Promise<Buffer> => {
    const writer = createArchiveWriter(archive())
    await writer.write('M', { created_at: '', postgres: '', migrations: [] })
    await writer.write('T', { name: 'a', columns: ['b'] })
    await writer.write('D', Buffer.from('1\n2\n'))
    await writer.finish({ tables: { a: 2 }, jobs: 0, objects: 0 })
    return readFileSync(archive())
  }
  const verify = (bytes: Uint8Array) => {
    writeFileSync(archive('other'), bytes)
    return verifyArchive(archive('other'), { isObjectKey })
  }

  it('reports its content', async () => {
    const { figures, manifest } = await verify(await sample())
    assert.deepEqual(figures.tables, { a: 2 })
    assert.deepEqual(manifest.migrations, [])
  })

  it('is refused when it is cut short anywhere', async () => {
    const bytes = await sample()
    for (let length = 0; length < bytes.length; length += 1)
      await assert.rejects(verify(bytes.subarray(0, length)), ArchiveError)
    const plain = gunzipSync(bytes)
    for (let length = 0; length < plain.length; length += 1)
      await assert.rejects(verify(gzipSync(plain.subarray(0, length))), ArchiveError)
  })

  it('is refused when any byte of it is changed', async () => {
    const plain = gunzipSync(await sample())
    for (let at = 0; at < plain.length; at += 1) {
      const altered = Buffer.from(plain)
      altered[at]! ^= 1
      const shown = await verify(gzipSync(altered)).catch((error: unknown) => error)
      // The figures are outside the checksum, and only for people.
      if (at < plain.indexOf('"tables"')) assert.ok(shown instanceof ArchiveError, `byte ${at}`)
    }
  })

  it('is refused with data after its end, and when it is no backup at all', async () => {
    const plain = gunzipSync(await sample())
    await assert.rejects(verify(gzipSync(Buffer.concat([plain, Buffer.from('x')]))), ArchiveError)
    await assert.rejects(verify(Buffer.from('not compressed')), ArchiveError)
    await assert.rejects(verify(gzipSync('PK something else entirely')), /no backup of Outdial/)
    await assert.rejects(verifyArchive(archive('missing'), { isObjectKey }), /cannot be read/)
    assert.equal(existsSync(archive('missing')), false)
  })
})

it('tables come after those they refer to, and a cycle is reported', () => {
  const order = inOrder([
    { name: 'calls', needs: ['agents', 'lanes'] },
    { name: 'agents', needs: ['organizations'] },
    { name: 'lanes', needs: ['organizations'] },
    { name: 'organizations', needs: [] },
  ]).map(({ name }) => name)
  assert.deepEqual(order, ['organizations', 'agents', 'lanes', 'calls'])
  assert.throws(
    () =>
      inOrder([
        { name: 'a', needs: ['b'] },
        { name: 'b', needs: ['a'] },
      ]),
    /circle/,
  )
})
