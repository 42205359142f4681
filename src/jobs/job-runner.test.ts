import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { execute } from '../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { silentLogger } from '../runtime/logger.ts'
import { JobRunner } from './job-runner.ts'
import { rescueJobs, touchJobWorkers } from './job-worker-store.ts'

let test: TestDatabase
let server: pg.Client

before(async () => {
  test = await createTestDatabase()
  server = new pg.Client({ ...test.connection, database: 'postgres' })
  await server.connect()
})
after(async () => {
  await server.end()
  await test.drop()
})

/** A runner with one task, `hold`, whose runs end when the test says so. */
const startHoldingRunner = async () => {
  const seen = new EventEmitter()
  const runner = new JobRunner({
    connection: test.connection,
    database: test.db,
    tasks: {
      hold: async () => {
        const released = once(seen, 'release')
        seen.emit('begun')
        await released
      },
    },
    schedule: [],
    concurrency: 1,
    logger: silentLogger,
  })
  await runner.start()
  return { runner, begun: () => once(seen, 'begun'), release: () => seen.emit('release') }
}

const addJob = () => execute(test.db, `select graphile_worker.add_job('hold', '{}'::json)`)

const lockedJobs = () =>
  execute<{ locked_by: string }>(
    test.db,
    'select locked_by from graphile_worker.jobs where locked_by is not null',
  )

/** Nobody may connect to the test's database, and whoever is connected is cut off. */
const cutDatabase = async (): Promise<void> => {
  const name = test.connection.database
  await server.query(`alter database ${name} allow_connections false`)
  await server.query(
    'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1',
    [name],
  )
}

const restoreDatabase = () =>
  server.query(`alter database ${test.connection.database} allow_connections true`)

describe('the runner of jobs', () => {
  it('keeps a job that runs for longer than heartbeats are apart', async () => {
    const { runner, begun, release } = await startHoldingRunner()
    const isBegun = begun()
    await addJob()
    await isBegun
    const [job] = await lockedJobs()
    await execute(
      test.db,
      `update graphile_worker._private_jobs set locked_at = now() - interval '1 hour'`,
    )
    await touchJobWorkers(test.db, [job?.locked_by ?? ''])
    assert.equal(await rescueJobs(test.db, 30), false, 'its pool is alive')
    const names = await execute<{ worker_id: string }>(test.db, 'select worker_id from job_workers')
    assert.deepEqual(
      names.map(({ worker_id }) => worker_id),
      [job?.locked_by],
      'the heartbeat names what jobs are locked by',
    )
    release()
    await runner.stop()
    assert.deepEqual(await lockedJobs(), [])
  })

  it('frees a job whose pool was not seen for a while', async () => {
    await addJob()
    await execute(
      test.db,
      `update graphile_worker._private_jobs set locked_by = 'pool-dead', locked_at = now() - interval '40 seconds'`,
    )
    assert.equal(await rescueJobs(test.db, 30), true)
    assert.deepEqual(await lockedJobs(), [])
    await execute(test.db, 'delete from graphile_worker._private_jobs')
  })

  it('outlives a database that goes away in the moment a job ends', async () => {
    const { runner, begun, release } = await startHoldingRunner()
    const first = begun()
    await addJob()
    await first
    await cutDatabase()
    // A rejection that nobody handles would end this process here.
    release()
    await server.query('select pg_sleep(0.3)')
    const again = begun()
    await restoreDatabase()
    await addJob()
    await again
    release()
    await runner.stop()
  })
})
