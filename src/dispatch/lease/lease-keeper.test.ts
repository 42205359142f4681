import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { until } from '../../../tests/support/until.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { leaseMs, takeLease, type NodeOffer } from './lease.ts'
import { rescueDeadNodes } from './rescue.ts'
import { endCallAlone } from '../../../tests/support/call-ends.ts'

let test: TestDatabase

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

const offer: NodeOffer = { name: 'n', maxChannels: 5, routes: ['env', 'sandbox'], lacks: [] }

const withKeeper = async (work: (keeper: LeaseKeeper) => Promise<void>): Promise<void> => {
  const keeper = new LeaseKeeper({
    connection: test.connection,
    logger: silentLogger,
    startDelayMs: 0,
  })
  try {
    await work(keeper)
  } finally {
    await keeper.stop()
  }
}

const firstRenewal = (keeper: LeaseKeeper): Promise<true> =>
  until('the thread to renew the lease', () => (keeper.isHeld() ? true : undefined))

/** The main thread ignores the message. */
const stallMs = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

describe('the thread that keeps the lease', () => {
  it('keeps it while the main thread is stalled, and reports that at once', () =>
    withKeeper(async (keeper) => {
      const clock = createManualTime(new Date())
      const lease = await takeLease(test.db, offer, clock, keeper)
      keeper.keep(lease.nodeId, () => assert.fail('it was never lost'))
      await firstRenewal(keeper)
      // By the main thread's own renewals, it would have expired.
      clock.advance(leaseMs)
      await execute(
        test.db,
        `update nodes set lease_until = clock_timestamp() + interval '2.5 seconds' where id = $1`,
        [lease.nodeId],
      )
      stallMs(3_500)
      assert.equal(lease.isHeld(), true)
      await rescueDeadNodes(test.db, endCallAlone)
      assert.equal(await lease.renew(), true, 'nobody took it for dead')
      await lease.release()
    }))

  it('is told that the node was declared dead, and stops renewing it', () =>
    withKeeper(async (keeper) => {
      const lost = Promise.withResolvers<void>()
      const lease = await takeLease(test.db, offer, createManualTime(new Date()), keeper)
      keeper.keep(lease.nodeId, () => lost.resolve())
      await firstRenewal(keeper)
      await execute(test.db, 'update nodes set rescued_at = now() where id = $1', [lease.nodeId])
      await lost.promise
      assert.equal(keeper.isHeld(), false)
      assert.equal(await lease.renew(), false)
      assert.equal(lease.isHeld(), false)
    }))

  it('continues with the next node', () =>
    withKeeper(async (keeper) => {
      const [first, next] = [
        await takeLease(test.db, offer, createManualTime(new Date()), keeper),
        await takeLease(test.db, offer, createManualTime(new Date()), keeper),
      ]
      keeper.keep(first.nodeId, () => undefined)
      await firstRenewal(keeper)
      keeper.keep(next.nodeId, () => undefined)
      assert.equal(keeper.isHeld(), false, 'what was renewed for one node says nothing of another')
      await firstRenewal(keeper)
    }))

  it('renews nothing after a stop', async () => {
    await withKeeper(async (keeper) => {
      const lease = await takeLease(test.db, offer, createManualTime(new Date()), keeper)
      keeper.keep(lease.nodeId, () => undefined)
      await firstRenewal(keeper)
    })
    const [row] = await execute<{ connections: number }>(
      test.db,
      `select count(*)::int as connections from pg_stat_activity
        where datname = current_database() and query like '%lease_until = clock%'
          and pid <> pg_backend_pid()`,
    )
    assert.equal(row?.connections, 0)
  })

  it('ends a process whose main thread hangs permanently', async () => {
    const keeperUrl = new URL('./lease-keeper.ts', import.meta.url).href
    const program = `
      import { LeaseKeeper } from ${JSON.stringify(keeperUrl)}
      const logger = { warn() {}, error() {}, info() {}, debug() {} }
      const connection = ${JSON.stringify(test.connection)}
      const keeper = new LeaseKeeper({ connection, logger, stallLimitMs: 500, startDelayMs: 0 })
      keeper.keep('00000000-0000-0000-0000-000000000000', () => {})
      // Signs of life at first: the limit is counted from the last one.
      setTimeout(() => { for (;;); }, 1_500)`
    const folder = await mkdtemp(join(tmpdir(), 'outdial-stall-'))
    const file = join(folder, 'stalls.mjs')
    await writeFile(file, program)
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'inherit', 'pipe'] })
    let output = ''
    child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()))
    const [, signal] = (await once(child, 'close')) as [number | null, string | null]
    await rm(folder, { recursive: true })
    assert.equal(signal, 'SIGKILL')
    assert.match(output, /the main thread hangs/)
  })
})
