import { setTimeout as delay } from 'node:timers/promises'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { ratePerSecond } from '../figures.ts'
import { analyzeAll, backlog, claim, enqueue, withDatabase } from './workload.ts'

/** With defaults, or with its local queue and its batches, which claim and end many jobs in one statement. */
const isBatched = process.argv[3] === 'graphile-batched'
const batching = {
  localQueue: { size: 200 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
} as const

/** More only adds to the jobs that wait for one of its connections. */
const concurrency = 40
const jobsPerInsert = 1_000
const payload = { organization_id: crypto.randomUUID(), phone_number: '+12025550100' }
const logger = new Logger(() => () => undefined)

await withDatabase(isBatched ? 'contest_graphile_2' : 'contest_graphile_1', async (connection) => {
  const pgPool = new pg.Pool({ ...connection, max: 20 })
  pgPool.on('error', () => undefined)
  pgPool.on('connect', (client) => client.on('error', () => undefined))
  const utils = await makeWorkerUtils({ pgPool, logger })
  await utils.migrate()
  for (let jobs = 0; jobs < backlog; jobs += jobsPerInsert)
    await utils.addJobs(
      Array.from({ length: jobsPerInsert }, () => ({ identifier: 'call', payload })),
    )
  await analyzeAll(connection)
  const enqueued = await ratePerSecond(enqueue, async () => {
    await utils.addJob('call', payload)
    return 1
  })
  let done = 0
  const startedMs = performance.now()
  const runner = await run({
    pgPool,
    logger,
    noHandleSignals: true,
    concurrency,
    preset: { worker: isBatched ? batching : {} },
    taskList: {
      call: () => {
        done += 1
      },
    },
  })
  await delay(claim.forMs)
  const worked = (done / (performance.now() - startedMs)) * 1000
  await runner.stop()
  await utils.release()
  await pgPool.end()
  return { enqueued, worked }
})
