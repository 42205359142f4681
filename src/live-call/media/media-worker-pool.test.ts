import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { silentLogger } from '../../runtime/logger.ts'
import { fakePlan, pcmuMedia } from '../../../tests/support/live-call/fake-call.ts'
import { MediaUnavailableError, type MediaCall } from './media-port.ts'
import type { MediaEvent } from './media-protocol.ts'
import { MediaWorkerPool, type MediaWorkerPoolOptions } from './media-worker-pool.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** A worker that follows the instructions in its plan. */
const scriptedWorker = `
  import { parentPort } from 'node:worker_threads'
  const post = (message) => parentPort.postMessage(message)
  let latenessP99Ms = 0
  const load = () => post({ type: 'load', load: { calls: 0, latenessP99Ms, cpuMs: 0 } })
  const report = { durationMs: 40, recordingPath: undefined, framesLost: 0, usage: undefined, reportedOutcome: undefined,
    rtp: { packetsSent: 1, packetsReceived: 2, packetsLost: 3 } }
  const acts = {
    throw: () => { throw new Error('broken on purpose') },
    exit: () => process.exit(3),
    hang: () => { for (;;); },
    late: () => { latenessP99Ms = 41; load() },
    talk: (channel) => post({ type: 'event', channel, event: { type: 'dtmf', digit: '7' } }),
  }
  parentPort.on('message', ({ type, channel, callId, plan }) => {
    if (type === 'open' && callId === 'no port') post({ type: 'open_failed', channel, reason: 'No RTP port is free.' })
    else if (type === 'open') post({ type: 'opened', channel, localMedia: { address: '127.0.0.1', port: 30000 + channel } })
    else if (type === 'prepare') acts[plan.session.instructions](channel)
    else if (type === 'stop') post({ type: 'ended', channel, report })
  })
  load()
  setInterval(load, 100)
`

const plan = (act: string) => ({ ...fakePlan, session: { ...fakePlan.session, instructions: act } })

describe('media worker pool', () => {
  let folder = ''
  let entry: URL
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outdial-pool-'))
    await writeFile(join(folder, 'worker.mjs'), scriptedWorker)
    entry = pathToFileURL(join(folder, 'worker.mjs'))
  })
  after(() => rm(folder, { recursive: true }))

  const withPool = async (
    options: Partial<MediaWorkerPoolOptions>,
    work: (pool: MediaWorkerPool) => Promise<void>,
  ): Promise<void> => {
    const pool = new MediaWorkerPool({
      workers: 1,
      channelsPerWorker: 10,
      socket: { bindAddress: '127.0.0.1', portRange: { min: 30_000, max: 31_000 } },
      logger: silentLogger,
      entry,
      heartbeatLimitMs: 500,
      ...options,
    })
    await pool.start()
    try {
      await work(pool)
    } finally {
      await pool.stop()
    }
  }

  it('waits for a worker that loads its modules slowly', async () => {
    const slow = join(folder, 'slow-worker.mjs')
    const loading = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)'
    await writeFile(slow, `${loading}\nawait import(${JSON.stringify(entry.href)})`)
    const lines: string[] = []
    const logger = {
      ...silentLogger,
      warn: (fields: unknown) => lines.push(JSON.stringify(fields)),
    }
    const options = { entry: pathToFileURL(slow), heartbeatLimitMs: 250, logger }
    await withPool(options, async (pool) => {
      assert.equal(pool.load().workers, 1)
      await Promise.resolve()
    })
    assert.deepEqual(lines, [])
  })

  const nextEvent = (call: MediaCall): Promise<MediaEvent> =>
    new Promise((resolve) => call.onEvent(resolve))

  it('opens, talks and stops a call', () =>
    withPool({}, async (pool) => {
      const call = await pool.open('a')
      assert.deepEqual(call.localMedia, { address: '127.0.0.1', port: 30_001 })
      call.prepare(plan('talk'))
      assert.deepEqual(await nextEvent(call), { type: 'dtmf', digit: '7' })
      assert.equal(pool.load().calls, 1)
      const [report, again] = await Promise.all([call.stop(), call.stop()])
      assert.equal(report.durationMs, 40)
      assert.equal(again, report)
      assert.equal(pool.load().calls, 0)
    }))

  it('spreads calls, and refuses a call too many until another ends', () =>
    withPool({ workers: 2, channelsPerWorker: 1 }, async (pool) => {
      const calls = await Promise.all([pool.open('a'), pool.open('b')])
      assert.equal(pool.capacity(), 2)
      await assert.rejects(pool.open('c'), MediaUnavailableError)
      await calls[0].stop()
      await (await pool.open('c')).stop()
    }))

  it('frees the place of a call that found no port', () =>
    withPool({ channelsPerWorker: 1 }, async (pool) => {
      await assert.rejects(pool.open('no port'), { message: 'No RTP port is free.' })
      assert.equal(pool.load().calls, 0)
    }))

  it('takes no call while its ticks are late, but always the first few', () =>
    withPool({}, async (pool) => {
      const call = await pool.open('a')
      const told = nextEvent(call)
      call.prepare(plan('late'))
      call.prepare(plan('talk'))
      await told
      assert.equal(pool.load().latenessP99Ms, 41)
      assert.equal(pool.capacity(), 8)
      for (let calls = 1; calls < 8; calls += 1) await pool.open('b')
      await assert.rejects(pool.open('c'), MediaUnavailableError)
    }))

  for (const act of ['throw', 'exit', 'hang']) {
    it(`ends the calls of a worker that does "${act}", and replaces it`, async () => {
      const restarted = Promise.withResolvers<void>()
      const logger = { ...silentLogger, warn: () => restarted.resolve() }
      await withPool({ logger }, async (pool) => {
        const call = await pool.open('a')
        call.start(pcmuMedia, {
          path: '/spool/a.spool',
          organizationId: 'o' as OrganizationId,
          startedAt: '',
        })
        const event = nextEvent(call)
        call.prepare(plan(act))
        assert.equal((await event).type, 'breakdown')
        const report = await call.stop()
        assert.deepEqual([report.durationMs, report.recordingPath], [undefined, '/spool/a.spool'])
        await restarted.promise
        while (pool.capacity() === 0) await new Promise((resolve) => setImmediate(resolve))
        await (await pool.open('b')).stop()
      })
    })
  }

  it('ends no call because the watching thread was stalled', () =>
    withPool({}, async (pool) => {
      const call = await pool.open('a')
      const event = nextEvent(call)
      // Several limits long: the workers continue meanwhile, but their messages are not received.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
      // Its watch runs before the messages that arrived meanwhile.
      await new Promise((resolve) => setTimeout(resolve))
      call.prepare(plan('talk'))
      assert.deepEqual(await event, { type: 'dtmf', digit: '7' })
    }))

  it('keeps the events before the first listener', () =>
    withPool({}, async (pool) => {
      const call = await pool.open('a')
      call.prepare(plan('talk'))
      await call.stop()
      assert.deepEqual(await nextEvent(call), { type: 'dtmf', digit: '7' })
    }))

  it('does not start when its workers cannot', async () => {
    const broken = join(folder, 'broken.mjs')
    await writeFile(broken, 'throw new Error("never ready")')
    const pool = new MediaWorkerPool({
      workers: 1,
      channelsPerWorker: 1,
      socket: { bindAddress: '127.0.0.1', portRange: { min: 30_000, max: 31_000 } },
      logger: silentLogger,
      entry: pathToFileURL(broken),
    })
    await assert.rejects(pool.start(), { message: 'The media worker broke down.' })
    await pool.stop()
  })
})
