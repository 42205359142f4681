import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { insertTrunk, testBox } from '../../../tests/support/trunk-fixtures.ts'
import { changeTrunk } from '../../domains/trunks/edit-trunks.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { circuitStates } from './circuit-store.ts'
import { lowerPace, raisePaces, releasePace, reportPaces } from './pace-store.ts'
import { TrunkCircuit } from './trunk-circuit.ts'

let test: TestDatabase
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  await execute(test.db, 'delete from trunks')
  await insertTrunk(test.db, 'a', { uris: ['sip:a.example'], cps: 40 })
})

const gateway = { trunk: 'a', uri: 'sip:a.example' }
const reason = 'SIP 503 Service Unavailable: the carrier has no room for the call now.'
const refuse = (ageMs = 0) => lowerPace(test.db, gateway, { reason, ageMs })

const paceOf = async (): Promise<number | null> =>
  (
    await execute<{ paced_per_second: number | null }>(
      test.db,
      `select paced_per_second from trunks where name = 'a'`,
    )
  )[0]?.paced_per_second ?? null

const routePace = async () => {
  const [row] = await execute<{ refill_per_second: number; burst: number; tokens: number }>(
    test.db,
    `select refill_per_second, burst, tokens from routes where name = 'env'`,
  )
  return row ?? assert.fail('the route stands')
}

/** As if the last step up had been made so long ago. */
const passSeconds = (seconds: number) =>
  execute(test.db, `update trunks set raised_at = raised_at - interval '${seconds} seconds'`)

const createCircuit = (): TrunkCircuit =>
  new TrunkCircuit({
    database: test.db,
    gateway,
    ping: () => Promise.resolve(true),
    logger: silentLogger,
  })

const stepOf = async (circuit: TrunkCircuit): Promise<void> =>
  circuit.step((await circuitStates(test.db)).find(({ trunk }) => trunk === 'a'))

describe('the pace of a congested trunk', () => {
  it('is halved once by all refusals of one moment, whichever node they come to', async () => {
    const together = await Promise.all(Array.from({ length: 5 }, () => refuse(1_000)))
    assert.equal(together.filter(({ kind }) => kind === 'lowered').length, 1)
    assert.equal(together.filter(({ kind }) => kind === 'known').length, 4)
    assert.equal(await paceOf(), 20)
    assert.equal((await refuse()).kind, 'lowered')
    assert.equal(await paceOf(), 10)
  })

  it('is the pace of the route too, which has no more tokens than its trunks', async () => {
    const before = await routePace()
    await refuse()
    const lowered = await routePace()
    assert.ok(lowered.refill_per_second < before.refill_per_second * 0.6)
    assert.ok(lowered.tokens < 1)
  })

  it('stays until a call is taken, and rises then until it is whole', async () => {
    await refuse()
    assert.deepEqual(await raisePaces(test.db), [])
    assert.equal(await releasePace(test.db, 'a'), true)
    assert.equal(await releasePace(test.db, 'a'), false, 'once')
    await passSeconds(10)
    const risen = await Promise.all([raisePaces(test.db), raisePaces(test.db)])
    assert.deepEqual(risen.flat(), [], 'not whole yet')
    const pace = (await paceOf()) ?? 0
    assert.ok(pace >= 24 && pace < 28, `one node made the step: ${pace}`)
    await passSeconds(60)
    assert.deepEqual(await raisePaces(test.db), ['a'])
    assert.equal(await paceOf(), null)
    assert.deepEqual(await reportPaces(test.db), [])
    assert.ok((await routePace()).refill_per_second > 30)
  })

  it('is left alone where another gateway takes the calls, which get a pause instead', async () => {
    await execute(
      test.db,
      `insert into trunk_gateways (trunk, uri, position) values ('a', 'sip:b.example', 2)`,
    )
    await createCircuit().report({ cause: 'congested', reason, ageMs: 0 })
    assert.equal(await paceOf(), null)
    const [state] = (await circuitStates(test.db)).filter(({ uri }) => uri === gateway.uri)
    assert.equal(state?.cause, 'congested')
    await execute(test.db, `update trunk_gateways set down_since = now() where position = 2`)
    assert.equal((await refuse()).kind, 'lowered')
  })

  it('is lowered by a circuit only where the carrier names no time', async () => {
    const circuit = createCircuit()
    await circuit.report({ cause: 'congested', reason, retryAfterMs: 30_000, ageMs: 0 })
    assert.equal(await paceOf(), null)
    await execute(test.db, `update trunk_gateways set down_since = null, down_cause = null`)
    await circuit.report({ cause: 'congested', reason, ageMs: 0 })
    assert.equal(await paceOf(), 20)
  })

  it('rises after a call that another node placed', async () => {
    const [refused, other] = [createCircuit(), createCircuit()]
    await refused.report({ cause: 'congested', reason, ageMs: 0 })
    await stepOf(other)
    await other.prove()
    await passSeconds(2)
    await raisePaces(test.db)
    assert.ok(((await paceOf()) ?? 0) > 20)
  })

  it('is whole again when an administrator sets the trunk anew', async () => {
    await refuse()
    await test.db.transaction((tx) => changeTrunk(tx, testBox, 'a', { cps: 10 }))
    assert.equal(await paceOf(), null)
  })
})
