import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import {
  claimAndSettle,
  clearOrganizations,
  createCallingOrganization,
  execute,
  insertNode,
  openTrunk,
  queueCalls,
} from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { newId } from '../../runtime/ids.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { reportCircuits } from './circuit-store.ts'
import { createTrunkWatch } from './trunk-watch.ts'
import type { Service } from '../../runtime/service.ts'
import { TrunkCircuit } from './trunk-circuit.ts'

let test: TestDatabase
let nodeId: string
let watches: Service[] = []
const gateway = { trunk: 'carrier', uri: 'sip:192.0.2.1' }

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  await openTrunk(test.db)
  await execute(test.db, 'delete from trunks')
  await execute(
    test.db,
    `insert into trunks (name, calls_per_second, burst, refill_per_second, tokens)
     values ('carrier', 1000, 1000000, 0.0001, 1000000)`,
  )
  await execute(
    test.db,
    `insert into trunk_gateways (trunk, uri, position) values ('carrier', 'sip:192.0.2.1', 1)`,
  )
  await execute(
    test.db,
    `update routes set tokens = 1000000, recovered_at = null where name = 'env'`,
  )
  nodeId = newId()
  await insertNode(test.db, nodeId)
  await queueCalls(test.db, await createCallingOrganization(test.db), 3)
})
afterEach(async () => {
  await Promise.all(watches.map((watch) => watch.stop()))
  watches = []
})

const reason = 'The SIP trunk could not be reached: connection refused.'

/** A node's circuit of a trunk whose OPTIONS responses the test decides; the test makes each step. */
const createCircuit = () => {
  const time = createManualTime()
  const trunk: { answers: boolean; asked: number; fault?: string } = { answers: true, asked: 0 }
  const circuit = new TrunkCircuit({
    database: test.db,
    gateway,
    random: () => 0.5,
    ping: (onFault) => {
      trunk.asked += 1
      if (trunk.fault !== undefined) onFault(trunk.fault)
      return Promise.resolve(trunk.answers)
    },
    logger: silentLogger,
  })
  const watch = createTrunkWatch({
    database: test.db,
    circuits: () => [circuit],
    logger: silentLogger,
    time,
  })
  watches.push(watch)
  let isStarted = false
  const step = async (): Promise<void> => {
    if (isStarted) time.advance(1_000)
    else await watch.start()
    isStarted = true
    await time.untilAsleep(1)
  }
  return { circuit, trunk, step }
}

const claim = async (): Promise<number> => {
  const { calls } = await claimAndSettle(test.db, { nodeId, route: 'env', limit: 10, except: [] })
  return calls.length
}

const report = async () => (await reportCircuits(test.db))[0]

const letPass = (column: 'ping_at' | 'retry_at'): Promise<object[]> =>
  execute(test.db, `update trunk_gateways set ${column} = now() - interval '1 second'`)

/** In how many seconds calls are let through. */
const retrySeconds = async (): Promise<number> => {
  const open = await report()
  assert.ok(open?.retry_at)
  return Math.round((open.retry_at.getTime() - open.since.getTime()) / 1000)
}

describe('the circuit of a trunk', () => {
  it('opens when a call could not reach it: no node claims, and waiting calls get the reason', async () => {
    const here = createCircuit()
    const there = createCircuit()
    await here.circuit.report({ cause: 'unreachable', reason })
    await there.circuit.report({ cause: 'unreachable', reason: 'A second node says so too.' })
    assert.equal(here.circuit.downReason(), reason)
    assert.equal(await claim(), 0)
    const open = await report()
    assert.deepEqual(
      [open?.cause, open?.reason, open?.waiting],
      ['unreachable', reason, 3],
      'the first report stands',
    )
  })

  it('is probed by one node at a time, and a response lets one call through at first', async () => {
    const nodes = [createCircuit(), createCircuit()]
    for (const { trunk } of nodes) trunk.answers = false
    await nodes[0]?.circuit.report({ cause: 'unreachable', reason })
    for (const { step } of nodes) await step()
    assert.deepEqual(
      nodes.map(({ trunk }) => trunk.asked),
      [0, 0],
      'not before its time',
    )
    await letPass('ping_at')
    for (const { step } of nodes) await step()
    assert.equal(
      nodes.reduce((sum, { trunk }) => sum + trunk.asked, 0),
      1,
    )
    assert.equal(await claim(), 0)
    for (const { trunk } of nodes) trunk.answers = true
    await letPass('ping_at')
    for (const { step } of nodes) await step()
    assert.equal(await report(), undefined)
    assert.equal(await claim(), 1)
  })

  it('has the reason that the last probe found, on its route too', async () => {
    const { circuit, trunk, step } = createCircuit()
    await circuit.report({ cause: 'unreachable', reason })
    trunk.answers = false
    trunk.fault = 'The SIP trunk could not be reached: its certificate has expired.'
    await step()
    assert.equal((await report())?.reason, reason, 'not before the probe')
    await letPass('ping_at')
    await step()
    assert.equal((await report())?.reason, trunk.fault)
    assert.equal(circuit.downReason(), trunk.fault)
    const routes = await execute(test.db, `select down_reason from routes where name = 'env'`)
    assert.deepEqual(routes, [{ down_reason: trunk.fault }])
  })

  it('with refused credentials is not closed by OPTIONS, but by a time that doubles', async () => {
    const { circuit, trunk, step } = createCircuit()
    const refused = { cause: 'credentials', reason: 'SIP 401 Unauthorized.' } as const
    await circuit.report(refused)
    assert.equal(await retrySeconds(), 30)
    await letPass('ping_at')
    await step()
    assert.equal(trunk.asked, 0)
    assert.equal(await claim(), 0)
    await letPass('retry_at')
    await step()
    assert.equal(await report(), undefined)
    assert.equal(circuit.downReason(), undefined)
    assert.equal(await claim(), 1, 'one call tries it')
    assert.equal(await claim(), 0, 'and no other until it is over')
    await circuit.prove()
    await execute(test.db, `update routes set tokens = 5 where name = 'env'`)
    assert.equal(await claim(), 2, 'it worked')
    for (const seconds of [60, 120, 240, 300, 300]) {
      await circuit.report(refused)
      assert.equal(await retrySeconds(), seconds)
      await letPass('retry_at')
      await step()
    }
  })

  it('stays closed after a call without a response while OPTIONS works, and opens when it does not', async () => {
    const { circuit, trunk } = createCircuit()
    await circuit.report({ cause: 'silence', reason })
    assert.equal(await report(), undefined)
    trunk.answers = false
    await circuit.report({ cause: 'silence', reason })
    assert.equal((await report())?.cause, 'unreachable')
  })

  it('opens when a trunk that responded to OPTIONS misses two in a row, and never for one that never did', async () => {
    const silent = createCircuit()
    silent.trunk.answers = false
    for (let steps = 0; steps < 65; steps += 1) await silent.step()
    assert.ok(silent.trunk.asked >= 2)
    assert.equal(await report(), undefined)
    const fallen = createCircuit()
    await fallen.step()
    fallen.trunk.answers = false
    for (let steps = 0; steps < 40 && fallen.trunk.asked < 2; steps += 1) await fallen.step()
    assert.equal(await report(), undefined, 'one answer may get lost')
    await fallen.step()
    assert.equal((await report())?.reason, 'The trunk does not answer OPTIONS any more.')
  })
})
