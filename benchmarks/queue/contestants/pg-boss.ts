import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { claimRatePerSecond, ratePerSecond } from '../figures.ts'
import { analyzeAll, backlog, claim, enqueue, jobsPerClaim, withDatabase } from './workload.ts'

/** The used part of it: only the benchmarks have it, so its types are not available elsewhere. */
interface Boss {
  start(): Promise<unknown>
  stop(options: { graceful: boolean; close: boolean }): Promise<void>
  on(event: 'error', handle: (error: Error) => void): void
  createQueue(name: string): Promise<void>
  insert(name: string, jobs: readonly object[]): Promise<unknown>
  send(name: string, data: object): Promise<string | null>
  fetch(name: string, options: { batchSize: number }): Promise<readonly { readonly id: string }[]>
  complete(name: string, id: string | readonly string[]): Promise<unknown>
}

const own = createRequire(join(import.meta.dirname, '../../package.json'))
const { PgBoss } = (await import(pathToFileURL(own.resolve('pg-boss')).href)) as {
  PgBoss: new (options: object) => Boss
}

const queue = 'calls'
const jobsPerInsert = 1_000
const data = { organization_id: crypto.randomUUID(), phone_number: '+12025550100' }

await withDatabase('contest_pg_boss', async (connection) => {
  const boss = new PgBoss({ ...connection, max: 20, supervise: false, schedule: false })
  let isOver = false
  boss.on('error', (error) => {
    if (!isOver) throw error
  })
  await boss.start()
  await boss.createQueue(queue)
  for (let jobs = 0; jobs < backlog; jobs += jobsPerInsert)
    await boss.insert(
      queue,
      Array.from({ length: jobsPerInsert }, () => ({ data })),
    )
  await analyzeAll(connection)
  const take = () => boss.fetch(queue, { batchSize: jobsPerClaim })
  const enqueued = await ratePerSecond(enqueue, async () => {
    await boss.send(queue, data)
    return 1
  })
  const worked = await ratePerSecond(claim, async () => {
    const jobs = await take()
    await Promise.all(jobs.map(({ id }) => boss.complete(queue, id)))
    return jobs.length
  })
  const claimed = await claimRatePerSecond(claim, take, (jobs) =>
    boss.complete(
      queue,
      jobs.map(({ id }) => id),
    ),
  )
  isOver = true
  await boss.stop({ graceful: false, close: true })
  return { enqueued, claimed, worked }
})
