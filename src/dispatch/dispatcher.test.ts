import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { createManualTime, type ManualTime } from '../../tests/support/manual-time.ts'
import {
  clearOrganizations,
  createCallingOrganization,
  execute,
  queueCalls,
  type CallingOrganization,
} from '../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import type { Database } from '../database/database.ts'
import { requestCancel, endCallAlone, finishCall } from '../../tests/support/call-ends.ts'
import { cancellationsChannel } from '../domains/calls/cancel-call.ts'
import { callsChannel } from '../domains/calls/queue-call.ts'
import { silentLogger, type Logger } from '../runtime/logger.ts'
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts'
import {
  stopReasonOf,
  type StopReason,
  type DialableCall,
  type PrepareCall,
  type RunCall,
} from '../domains/calls/lifecycle/hand-over.ts'

/** Timers of an idle dispatcher: claim, cancellations, lease, sweep, batches, forecasts, numbers. */
const loops = 7
const pollMs = 250

let test: TestDatabase
let organization: CallingOrganization
let time: ManualTime
let dispatcher: Dispatcher
let errors: string[] = []

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  organization = await createCallingOrganization(test.db, { concurrency: 100 })
  time = createManualTime()
  errors = []
})
afterEach(() => dispatcher.stop())

/** A call that the test controls. */
interface Running {
  readonly call: DialableCall
  readonly signal: AbortSignal
  /** Writes the terminal state and lets the promise resolve. */
  readonly finish: () => Promise<void>
  readonly fail: (error: Error) => void
}

/** Replaces live-call: passes each call to the waiting test. */
const createRuns = () => {
  const arrived: Running[] = []
  const waiting: ((running: Running) => void)[] = []
  return {
    count: () => arrived.length,
    next: () =>
      new Promise<Running>((resolve) => {
        waiting.push(resolve)
        deliver()
      }),
    run: (call: DialableCall, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        arrived.push({
          call,
          signal,
          finish: async () => {
            await test.db.transaction((tx) => finishCall(tx, call, { status: 'completed' }))
            resolve()
          },
          fail: reject,
        })
        deliver()
      }),
  }
  function deliver(): void {
    while (arrived.length > 0 && waiting.length > 0) waiting.shift()?.(arrived.shift() as Running)
  }
}

const recordingLogger: Logger = {
  ...silentLogger,
  error: (_, message) => errors.push(message),
  child: () => recordingLogger,
}

/** No hint ever arrives, unless a test restores the real `listen`. */
const deaf = (): Database => ({
  ...test.db,
  listen: () => Promise.resolve({ stop: () => Promise.resolve() }),
})

/** Calls that need no preparation. */
const unprepared =
  (run: RunCall): PrepareCall =>
  () => ({ run, release: () => Promise.resolve() })

/** Polls until a call is handed over: a claim that runs as a poll is due finds only what it saw at its beginning. */
const pollUntilRun = async (runs: ReturnType<typeof createRuns>): Promise<Running> => {
  const next = runs.next()
  let hasArrived = false
  void next.then(() => (hasArrived = true))
  while (!hasArrived) {
    time.advance(pollMs)
    await time.untilAsleep(loops)
  }
  return next
}

const startDispatcher = async (
  runCall: RunCall,
  changes: Partial<DispatcherOptions> = {},
): Promise<void> => {
  dispatcher = new Dispatcher({
    database: deaf(),
    prepareCall: unprepared(runCall),
    endCall: endCallAlone,
    nodeId: 'test',
    maxChannels: 20,
    routes: [{ name: 'env', callsPerSecond: 1_000_000 }],
    time,
    logger: recordingLogger,
    ...changes,
  })
  await dispatcher.start()
  await time.untilAsleep(loops)
}

const statusOf = async (callId: string | undefined): Promise<string | undefined> =>
  (
    await execute<{ status: string }>(test.db, 'select status from calls where id = $1', [callId])
  )[0]?.status

const aborted = (signal: AbortSignal): Promise<StopReason> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(stopReasonOf(signal))
    signal.addEventListener('abort', () => resolve(stopReasonOf(signal)))
  })

describe('the dispatcher', () => {
  it('hands a call over with everything it needs, after dialing is committed', async () => {
    const runs = createRuns()
    const { phoneNumber } = organization
    const [row] = await queueCalls(test.db, organization, 1, undefined, phoneNumber)
    await startDispatcher(async (call, signal) => {
      assert.equal(await statusOf(call.callId), 'dialing')
      return runs.run(call, signal)
    })
    const { call, finish } = await runs.next()
    const { leaseToken, mayInvite, ...rest } = call
    assert.deepEqual(rest, {
      organizationId: organization.organizationId,
      callId: row?.id,
      contactId: organization.contactId,
      agentId: organization.agentId,
      agentVersion: 1,
      phoneNumber,
      origin: 'api',
      route: 'env',
      attempt: 1,
    })
    assert.match(leaseToken, /^[0-9a-f-]{36}$/)
    assert.equal(mayInvite(), true)
    assert.equal(dispatcher.liveCalls(), 1)
    await finish()
  })

  it('finds a call with a lost hint at the next poll', async () => {
    const runs = createRuns()
    await startDispatcher(runs.run)
    await queueCalls(test.db, organization, 1)
    time.advance(pollMs)
    const { finish } = await runs.next()
    await finish()
  })

  it('dials on a hint without any poll', async () => {
    const runs = createRuns()
    await startDispatcher(runs.run, { database: test.db })
    await queueCalls(test.db, organization, 1)
    test.db.hint(callsChannel)
    const { finish } = await runs.next()
    await finish()
  })

  it('stays within its channels, and takes the next call when one ends without any poll', async () => {
    const runs = createRuns()
    await queueCalls(test.db, organization, 5)
    await startDispatcher(runs.run, { maxChannels: 2 })
    const first = await runs.next()
    const second = await runs.next()
    assert.equal(dispatcher.liveCalls(), 2)
    assert.equal(runs.count(), 0)
    await first.finish()
    const third = await runs.next()
    await Promise.all([second.finish(), third.finish()])
    for (let left = 0; left < 2; left += 1) await (await runs.next()).finish()
  })

  it('adds its channels to those of other nodes', async () => {
    const runs = createRuns()
    await queueCalls(test.db, organization, 5)
    await startDispatcher(runs.run, { maxChannels: 2 })
    const first = dispatcher
    const held = [await runs.next(), await runs.next()]
    const others = createRuns()
    await startDispatcher(others.run, { maxChannels: 2 })
    held.push(await others.next(), await others.next())
    assert.deepEqual([first.liveCalls(), dispatcher.liveCalls()], [2, 2])
    assert.equal(runs.count() + others.count(), 0)
    await Promise.all(held.map(({ finish }) => finish()))
    await first.stop()
  })

  it('leaves calls queued that the media would refuse, until it has room again', async () => {
    const runs = createRuns()
    let capacity = 1
    const rows = await queueCalls(test.db, organization, 3)
    await startDispatcher(runs.run, { mediaCapacity: () => capacity })
    const first = await runs.next()
    time.advance(pollMs)
    await time.untilAsleep(loops)
    assert.equal(dispatcher.liveCalls(), 1)
    const states = await Promise.all(rows.map(({ id }) => statusOf(id)))
    assert.equal(states.filter((status) => status === 'queued').length, 2)
    capacity = 20
    const second = await pollUntilRun(runs)
    const third = await runs.next()
    await Promise.all([first, second, third].map((running) => running.finish()))
  })

  it('reports a cancellation to a live call at the next poll, or at once by a hint', async () => {
    for (const way of ['poll', 'hint'] as const) {
      const runs = createRuns()
      const [row] = await queueCalls(test.db, organization, 1)
      await startDispatcher(runs.run, way === 'hint' ? { database: test.db } : {})
      const { signal, finish } = await runs.next()
      await test.db.transaction((tx) =>
        requestCancel(tx, organization.organizationId, row?.id ?? '', 'api'),
      )
      if (way === 'hint') test.db.hint(cancellationsChannel)
      else time.advance(pollMs)
      assert.equal(await aborted(signal), 'cancel_requested')
      await finish()
      await dispatcher.stop()
    }
  })

  it('ends a call whose run breaks, logs it once, and continues', async () => {
    const runs = createRuns()
    const [row] = await queueCalls(test.db, organization, 1)
    await startDispatcher(runs.run)
    const { fail } = await runs.next()
    fail(new Error('a bug'))
    await time.untilAsleep(loops)
    await queueCalls(test.db, organization, 1)
    await (await pollUntilRun(runs)).finish()
    await dispatcher.stop()
    assert.equal(await statusOf(row?.id), 'failed')
    assert.deepEqual(errors, ['a live call broke'])
  })

  it('logs a broken database once, and continues when it is back', async () => {
    const runs = createRuns()
    let isAway = false
    const database: Database = {
      ...deaf(),
      row: (statement, values) =>
        isAway ? Promise.reject(new Error('away')) : test.db.row(statement, values),
    }
    await startDispatcher(runs.run, { database })
    await queueCalls(test.db, organization, 1)
    isAway = true
    for (let polls = 0; polls < 3; polls += 1) {
      time.advance(pollMs)
      await time.untilAsleep(loops)
    }
    assert.deepEqual(errors, ['dispatch loop failed'])
    isAway = false
    await (await pollUntilRun(runs)).finish()
  })

  it('claims nothing once it drains, lets live calls end, and hangs up the rest at the limit', async () => {
    const runs = createRuns()
    await queueCalls(test.db, organization, 2)
    await startDispatcher(runs.run)
    const [first, second] = [await runs.next(), await runs.next()]
    const drained = dispatcher.drain(50)
    await queueCalls(test.db, organization, 1)
    await first.finish()
    assert.equal(first.signal.aborted, false)
    assert.equal(await aborted(second.signal), 'shutdown')
    assert.equal(second.call.mayInvite(), false)
    await second.finish()
    await drained
    assert.equal(dispatcher.liveCalls(), 0)
    assert.equal(runs.count(), 0)
  })

  it('drains the same way without a database', async () => {
    const runs = createRuns()
    await queueCalls(test.db, organization, 1)
    const database: Database = {
      ...deaf(),
      run: (statement, values) =>
        statement.name === 'lease.setDraining'
          ? Promise.reject(new Error('away'))
          : test.db.run(statement, values),
    }
    await startDispatcher(runs.run, { database })
    const { signal, finish } = await runs.next()
    const drained = dispatcher.drain(0)
    assert.equal(await Promise.race([aborted(signal), drained]), 'shutdown')
    await finish()
    await drained
    assert.equal(dispatcher.liveCalls(), 0)
  })

  it('gives its lease back when it stops', async () => {
    await startDispatcher(createRuns().run)
    await dispatcher.stop()
    const [node] = await execute<{ is_over: boolean }>(
      test.db,
      'select lease_until <= clock_timestamp() as is_over from nodes',
    )
    assert.equal(node?.is_over, true)
  })

  it('hangs up its calls and continues as a new node after it was declared dead', async () => {
    const runs = createRuns()
    await queueCalls(test.db, organization, 1)
    await startDispatcher(runs.run)
    const { signal, call, finish } = await runs.next()
    await execute(test.db, 'update nodes set rescued_at = now()')
    time.advance(2_000)
    assert.equal(await aborted(signal), 'lease_lost')
    assert.equal(call.mayInvite(), false)
    await finish()
    await time.untilAsleep(loops)
    await queueCalls(test.db, organization, 1)
    time.advance(pollMs)
    await (await runs.next()).finish()
  })

  it('does not dial while its lease is in doubt', async () => {
    const runs = createRuns()
    const database: Database = {
      ...deaf(),
      run: (statement, values) =>
        statement.name === 'lease.renew'
          ? Promise.reject(new Error('away'))
          : test.db.run(statement, values),
    }
    await startDispatcher(runs.run, { database })
    for (let seconds = 0; seconds < 10; seconds += 2) {
      time.advance(2_000)
      await time.untilAsleep(loops)
    }
    await queueCalls(test.db, organization, 1)
    time.advance(pollMs)
    await time.untilAsleep(loops)
    assert.equal(dispatcher.liveCalls(), 0)
    assert.equal(runs.count(), 0)
  })

  it('starts and stops safely twice, and stops without having started', async () => {
    await startDispatcher(createRuns().run)
    await dispatcher.start()
    await dispatcher.stop()
    await dispatcher.stop()
    dispatcher = new Dispatcher({
      database: deaf(),
      prepareCall: unprepared(() => Promise.resolve()),
      endCall: endCallAlone,
      nodeId: 'test',
      maxChannels: 1,
      routes: [{ name: 'env', callsPerSecond: 1 }],
      time,
      logger: silentLogger,
    })
  })
})
