import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { hasCluster, prepareFolders } from './embedded-folders.ts'
import { acquireInstanceLock, type InstanceLock } from './embedded-lock.ts'
import {
  connectOrStartEmbedded,
  startEmbedded,
  type EmbeddedPostgres,
} from './embedded-postgres.ts'

const options = { isDurable: false }
const instanceScript = join(import.meta.dirname, '../../tests/support/embedded-instance.ts')
const isRoot = process.getuid?.() === 0

let scratch: string
let folder: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'outdial-embedded-'))
  chmodSync(scratch, 0o711)
  folder = join(scratch, 'data')
})
/** Processes that a failed test leaves running. */
const cleanups: (() => unknown)[] = []
after(async () => {
  for (const cleanUp of cleanups) await cleanUp()
  rmSync(scratch, { recursive: true, force: true })
})

const start = async (...args: Parameters<typeof startEmbedded>): Promise<EmbeddedPostgres> => {
  const postgres = await startEmbedded(...args)
  cleanups.push(() => postgres.stop())
  return postgres
}

/** Another process that runs PostgreSQL on `folder`. */
interface Instance {
  readonly child: ChildProcess
  readonly connection: pg.ClientConfig & { isOwner: boolean }
  stop(): Promise<void>
  killHard(): Promise<void>
}

const startInstance = async (kind: 'service' | 'command', ...rest: string[]): Promise<Instance> => {
  const child = spawn(process.execPath, [instanceScript, folder, kind, ...rest], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  cleanups.push(() => child.kill('SIGKILL'))
  const [line] = (await Promise.race([
    once(child.stdout, 'data'),
    text(child.stderr).then((error) => assert.fail(error)),
  ])) as [Buffer]
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  return {
    child,
    connection: JSON.parse(line.toString()) as Instance['connection'],
    stop: () => end('SIGTERM'),
    killHard: () => end('SIGKILL'),
  }
}

const query = async (connection: pg.ClientConfig, statement: string): Promise<unknown[]> => {
  const { host, port, user, database } = connection
  const client = new pg.Client({ host, port, user, database } as pg.ClientConfig)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows.flatMap(Object.values)
  } finally {
    await client.end()
  }
}

/** Polls what no event reports: another process's children, a server that comes back. */
const eventually = async <T>(probe: () => Promise<T> | T, withinMs: number): Promise<T> => {
  const deadlineMs = performance.now() + withinMs
  for (;;) {
    try {
      return await probe()
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
      await sleep(10)
    }
  }
}

const postmasterPid = (): number =>
  Number(readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A zombie only waits for its new parent.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

test('what was committed is there after a stop and a start', async () => {
  const first = await start(folder, options)
  assert.equal(first.isOwner, true)
  await query(first.connection, 'create table kept as select 1 as n')
  await first.stop()
  await first.stop()
  await assert.rejects(query(first.connection, 'select 1'))
  const second = await start(folder, options)
  assert.deepEqual(await query(second.connection, 'select n from kept'), [1])
  await second.stop()
})

test('a second service is refused with the pid of the first, and does not affect it', async () => {
  const first = await startInstance('service')
  await assert.rejects(startEmbedded(folder, options), {
    name: 'DatabaseSetupError',
    message: new RegExp(`process ${first.child.pid}\\).*data folder ${folder}`),
  })
  assert.deepEqual(await query(first.connection, 'select n from kept'), [1])
  await first.stop()
})

test('a command is the guest of a running service', async () => {
  const service = await startInstance('service')
  const command = await connectOrStartEmbedded(folder, options)
  assert.equal(command.isOwner, false)
  assert.deepEqual(await query(command.connection, 'select n from kept'), [1])
  await command.stop()
  assert.deepEqual(await query(service.connection, 'select n from kept'), [1])
  await service.stop()
})

test('a command without a service runs the database itself, until its guests have gone', async () => {
  const owner = await startInstance('command')
  assert.equal(owner.connection.isOwner, true)
  const guest = await connectOrStartEmbedded(folder, options)
  const stopped = owner.stop()
  const ended = await Promise.race([stopped.then(() => 'owner'), sleep(200, 'guest still there')])
  assert.equal(ended, 'guest still there')
  assert.deepEqual(await query(guest.connection, 'select n from kept'), [1])
  await guest.stop()
  await stopped
})

test('a command fails at once if the disk of a running service is full', async () => {
  const full = join(scratch, 'full')
  const folders = prepareFolders(full)
  const attempt = await acquireInstanceLock(folders.sockets, 'service')
  assert.equal(attempt.kind, 'held')
  // As PostgreSQL refuses a session whose first file it cannot write.
  const fields = 'SFATAL\0C53100\0Mcould not write init file: No space left on device\0\0'
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + fields.length)
  const server = createServer((socket) => {
    socket.once('data', () =>
      socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)])),
    )
  })
  server.listen(join(folders.sockets, '.s.PGSQL.5432'))
  await once(server, 'listening')
  cleanups.push(() => server.close())
  await assert.rejects(connectOrStartEmbedded(full, options), {
    name: 'DatabaseSetupError',
    message: /^The disk that holds .*full is full: free at least 200 MB/,
  })
  server.close()
  if (attempt.kind === 'held') await attempt.lock.release(0, async () => undefined)
})

test('a service waits for a command that holds the database', async () => {
  const command = await startInstance('command')
  const service = startEmbedded(folder, options)
  await command.stop()
  assert.equal((await service).isOwner, true)
  await (await service).stop()
})

test('after kill -9 PostgreSQL is gone within a second, and the next start has every committed row', async () => {
  const instance = await startInstance('service')
  await query(instance.connection, 'insert into kept values (2)')
  const pid = postmasterPid()
  await instance.killHard()
  await eventually(() => assert.equal(isAlive(pid), false), 1_000)
  const next = await start(folder, options)
  assert.deepEqual(await query(next.connection, 'select n from kept order by n'), [1, 2])
  await next.stop()
})

test('an immediate start after kill -9 takes over', async () => {
  const instance = await startInstance('service')
  await instance.killHard()
  const next = await start(folder, options)
  assert.deepEqual(await query(next.connection, 'select count(*)::int from kept'), [2])
  await next.stop()
})

test('a PostgreSQL whose owner and watchdog were both killed is ended by the next start', async () => {
  const instance = await startInstance('service')
  const orphan = postmasterPid()
  const watchdog = Number(/PPid:\t(\d+)/.exec(readFileSync(`/proc/${orphan}/status`, 'utf8'))?.[1])
  // The owner must not notice the end of its watchdog, or it would end PostgreSQL itself.
  instance.child.kill('SIGSTOP')
  const status = `/proc/${instance.child.pid}/status`
  await eventually(() => assert.match(readFileSync(status, 'utf8'), /^State:\tT/m), 1_000)
  const children = readFileSync(`/proc/${watchdog}/task/${watchdog}/children`, 'utf8')
  process.kill(watchdog, 'SIGKILL')
  for (const pid of children.trim().split(' ').map(Number))
    if (pid !== orphan) process.kill(pid, 'SIGKILL')
  await instance.killHard()
  assert.equal(isAlive(orphan), true)
  const next = await start(folder, options)
  assert.equal(isAlive(orphan), false)
  assert.deepEqual(await query(next.connection, 'select count(*)::int from kept'), [2])
  await next.stop()
})

test('a postmaster killed -9 is restarted while we run, with every committed row', async () => {
  const postgres = await start(folder, options)
  await query(postgres.connection, 'insert into kept values (3)')
  const pid = postmasterPid()
  process.kill(pid, 'SIGKILL')
  const rows = await eventually(
    () => query(postgres.connection, 'select count(*)::int from kept'),
    10_000,
  )
  assert.deepEqual(rows, [3])
  assert.notEqual(postmasterPid(), pid)
  await postgres.stop()
})

test('of eight simultaneous contenders exactly one gets the lock', async () => {
  const lockFolder = mkdtempSync(join(scratch, 'lock-'))
  writeFileSync(join(lockFolder, 'owner-1-0123abcd'), '')
  const attempts = await Promise.all(
    Array.from({ length: 8 }, () => acquireInstanceLock(lockFolder, 'service')),
  )
  const locks: InstanceLock[] = []
  for (const attempt of attempts)
    if (attempt.kind === 'held') locks.push(attempt.lock)
    else attempt.ticket.leave()
  assert.equal(locks.length, 1)
  assert.equal(readdirSync(lockFolder).length, 1)
  await locks[0]?.release(100, async () => {})
  assert.deepEqual(readdirSync(lockFolder), [])
})

test('a killed first start does no harm, nor does a path too long for a socket address', async () => {
  const deep = join(scratch, 'd'.repeat(60), 'e'.repeat(60))
  const settings = { ...options, stateFolder: join(scratch, 'short') }
  const { cluster } = prepareFolders(deep, settings.stateFolder)
  const unfinished = `${cluster}.0123abcd.new`
  mkdirSync(join(unfinished, 'base'), { recursive: true })
  const postgres = await start(deep, settings)
  assert.ok(`${postgres.connection.host}/.s.PGSQL.5432`.length < 107)
  assert.deepEqual(await query(postgres.connection, 'select 1 as n'), [1])
  await postgres.stop()
  assert.equal(existsSync(unfinished), false)
  writeFileSync(join(cluster, 'PG_VERSION'), '17\n')
  await assert.rejects(startEmbedded(deep, settings), /PostgreSQL 17, and this version .* 18/)
})

test('a data folder that is a file is refused with a sentence', async () => {
  const file = join(scratch, 'file')
  writeFileSync(file, '')
  await assert.rejects(startEmbedded(join(file, 'data'), options), {
    name: 'DatabaseSetupError',
    message: /because a file is in its place: remove the file, or set OUTDIAL_DATA/,
  })
})

test(
  'root keeps the cluster in the data folder, even if its user may not enter the path',
  { skip: !isRoot && 'only root can take another user' },
  async () => {
    const home = mkdtempSync(join(scratch, 'root-home-'))
    const closed = join(home, 'checkout/.outdial')
    const first = await start(closed, options)
    await query(first.connection, 'create table here (n int)')
    await first.stop()
    assert.equal(existsSync(join(closed, 'postgres/data/PG_VERSION')), true)
    assert.notEqual(statSync(join(closed, 'postgres/data')).uid, 0)
    const second = await start(closed, options)
    assert.deepEqual(await query(second.connection, 'select count(*)::int from here'), [0])
    await second.stop()
  },
)

test('a cluster that an earlier version put elsewhere is found there', async () => {
  const moved = join(scratch, 'moved')
  const first = await start(moved, options)
  await query(first.connection, 'create table here (n int)')
  await first.stop()
  const place = join(scratch, 'elsewhere')
  renameSync(join(moved, 'postgres'), place)
  assert.equal(hasCluster(moved), false)
  writeFileSync(join(moved, 'postgres-location'), `${place}\n`)
  assert.equal(hasCluster(moved), true)
  const second = await start(moved, options)
  assert.deepEqual(await query(second.connection, 'select count(*)::int from here'), [0])
  await second.stop()
})
