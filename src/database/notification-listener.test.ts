import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { silentLogger } from '../runtime/logger.ts'
import { sql } from './database.ts'
import { NotificationListener } from './notification-listener.ts'
import { openDatabase } from './open-database.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** The received payloads, and a promise for the next one. */
const createInbox = () => {
  const seen: string[] = []
  const waiting: (() => void)[] = []
  return {
    seen,
    onPayload: (payload: string) => {
      seen.push(payload)
      for (const resolve of waiting.splice(0)) resolve()
    },
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
  }
}

const terminateListeners = sql(
  'test.terminate',
  "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'outdial listener' and datname = current_database()",
)

test('a hint reaches a listener, which is told to check when it begins', async () => {
  const inbox = createInbox()
  const listening = await database.db.listen('calls', inbox.onPayload)
  assert.deepEqual(inbox.seen, [''])
  const arrived = inbox.next()
  database.db.hint('calls', 'organization-1')
  await arrived
  assert.deepEqual(inbox.seen, ['', 'organization-1'])
  await listening.stop()
})

test('after the end of listening nothing arrives, while others continue', async () => {
  const [ended, other] = [createInbox(), createInbox()]
  const first = await database.db.listen('shared', ended.onPayload)
  const second = await database.db.listen('shared', other.onPayload)
  await first.stop()
  const arrived = other.next()
  database.db.hint('shared', 'x')
  await arrived
  assert.equal(ended.seen.includes('x'), false)
  await second.stop()
})

test('a lost connection comes back, and every channel is told to check', async () => {
  const [a, b] = [createInbox(), createInbox()]
  await database.db.listen('channel a', a.onPayload)
  await database.db.listen('channel "b"', b.onPayload)
  const again = Promise.all([a.next(), b.next()])
  await database.db.rows(terminateListeners, [])
  await again
  const arrived = b.next()
  database.db.hint('channel "b"', 'back')
  await arrived
  assert.equal(b.seen.at(-1), 'back')
})

const folders: string[] = []
const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-proxy-'))
  folders.push(folder)
  return folder
}
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A socket in `folder` that leads to PostgreSQL. */
const createProxy = async (folder: string) => {
  const target = database.connection
  const deaf = new Set<Socket>()
  const sockets = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = connect(join(target.host ?? '', '.s.PGSQL.5432'))
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.on('data', (bytes) => far.write(bytes)).on('close', () => far.destroy())
    far.on('data', (bytes) => deaf.has(near) || near.write(bytes)).on('close', () => near.destroy())
  })
  server.listen(join(folder, '.s.PGSQL.5432'))
  await once(server, 'listening')
  return {
    /** From now on the present clients receive nothing; later ones do. */
    deafen: () => {
      for (const socket of sockets) deaf.add(socket)
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

test('a half-open connection is detected by the probe and replaced', async () => {
  const host = makeFolder()
  const proxy = await createProxy(host)
  const listener = new NotificationListener({
    connection: { ...database.connection, host },
    logger: silentLogger,
    probeIntervalMs: 50,
  })
  const inbox = createInbox()
  await listener.listen('half open', inbox.onPayload)
  assert.deepEqual(inbox.seen, [''])
  const again = inbox.next()
  proxy.deafen()
  await again
  assert.deepEqual(inbox.seen, ['', ''])
  await listener.stop()
  proxy.close()
})

test('listening to a server that is not ready yet begins when it is', async () => {
  const host = makeFolder()
  const absent = openDatabase({
    connection: { ...database.connection, host },
    logger: silentLogger,
  })
  const inbox = createInbox()
  await absent.listen('calls', inbox.onPayload)
  assert.deepEqual(inbox.seen, [])
  const begun = inbox.next()
  const proxy = await createProxy(host)
  await begun
  assert.deepEqual(inbox.seen, [''])
  await absent.stop()
  proxy.close()
})
