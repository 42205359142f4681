import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { claimDespiteTrunks } from '../support/claimed-calls.ts'
import {
  clearOrganizations,
  createCallingOrganization,
  execute,
  immediateLane,
  queueCalls,
  type CallingOrganization,
} from '../support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { insertTrunk } from '../support/trunk-fixtures.ts'
import { endCall } from '../../src/compose/call-end.ts'
import { cancelQueued } from '../../src/domains/calls/lifecycle/cancel-queued-call.ts'
import { explainCall } from '../../src/domains/calls/explain-call.ts'
import {
  addNumber,
  changeNumber,
  listNumbers,
  restNumber,
  resumeNumber,
} from '../../src/domains/numbers/edit-numbers.ts'
import type { NumberInput } from '../../src/domains/numbers/number-settings.ts'
import { sandboxPolicy } from '../../src/domains/organizations/calling-policy.ts'
import { pauseTrunk } from '../../src/domains/trunks/edit-trunks.ts'
import { testBox } from '../support/trunk-fixtures.ts'
import type { ClaimedCall } from '../../src/dispatch/claim/claim-calls.ts'
import { requeueCongested } from '../../src/domains/calls/lifecycle/requeue-call.ts'
import { watchNumbers } from '../../src/dispatch/numbers/watch-numbers.ts'
import { insertTries } from '../../src/domains/calls/call-tries.ts'
import { endHeld } from '../../src/domains/calls/lifecycle/end-held-call.ts'
import { checkNumbers } from '../../src/operator/doctor/check-numbers.ts'
import { silentLogger, type Logger } from '../../src/runtime/logger.ts'
import { passGate } from '../../src/dispatch/gate.ts'
import { chooseLine, type LineChoice } from '../../src/dispatch/numbers/choose-line.ts'
import { giveNumberBack } from '../../src/dispatch/numbers/number-choice-store.ts'

const [boston, dallas, london] = ['+16175550188', '+12145550188', '+442071234567']
const installationNumber = '+12025550199'

let test: TestDatabase
let organization: CallingOrganization

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  await execute(test.db, 'delete from trunks')
  await execute(test.db, 'delete from caller_number_days')
  // Its day begins ten hours before that of Greenwich.
  const policy = { ...sandboxPolicy, timeZone: 'Australia/Brisbane' }
  organization = await createCallingOrganization(test.db, { concurrency: 100, policy })
  await insertTrunk(test.db, 'a', { uris: ['sip:a.example'], cps: 100 })
})

const add = (phoneNumber: string, input: NumberInput = {}) =>
  test.db.transaction((tx) => addNumber(tx, organization.organizationId, phoneNumber, input))

const queue = (count: number, phoneNumber?: string) => {
  const lane = immediateLane(organization.organizationId)
  return queueCalls(test.db, organization, count, lane, phoneNumber)
}

const claim = (limit = 100) => claimDespiteTrunks(test.db, limit)

const choose = (call: ClaimedCall, served = ['a', 'b']): Promise<LineChoice> =>
  chooseLine(test.db, { ...call, served, installationNumber })

const shown = (choice: LineChoice): string =>
  choice.kind === 'chosen' ? choice.callerId : choice.kind === 'none' ? choice.code : choice.kind

const callsOf = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await listNumbers(test.db, organization.organizationId)).map((each) => [
      each.phone_number,
      each.calls_today,
    ]),
  )

interface Stored {
  readonly wait_reason: string | null
  readonly not_before: Date | null
  readonly is_claimed: boolean
}

const stored = async (callId: string): Promise<Stored> => {
  const [row] = await execute<Stored>(
    test.db,
    `select wait_reason, case when isfinite(not_before) then not_before end as not_before,
            lease_token is not null as is_claimed
       from calls where id = $1`,
    [callId],
  )
  assert.ok(row)
  return row
}

const one = <T>(list: readonly T[]): T => {
  const [first] = list
  assert.ok(first)
  return first
}

const dial = async (call: ClaimedCall) => {
  const outcome = await passGate(test.db, call, endCall)
  assert.equal(outcome.kind, 'dial')
}

describe('the number that a callee sees', () => {
  it('is the installation’s where the organization has none, and is not counted', async () => {
    await queue(1)
    const call = one(await claim())
    assert.equal(shown(await choose(call)), installationNumber)
    await dial(call)
    assert.deepEqual(await execute(test.db, 'select 1 from caller_number_days'), [])
    const explained = await explainCall(test.db, call.organizationId, call.callId)
    assert.match(explained?.decisions.at(-1)?.reason ?? '', /It shows \+12025550199\.$/)
  })

  it('is of the callee’s country, and begins as the callee’s number does', async () => {
    await add(boston)
    await add(dallas)
    await add(london)
    // Callees of +1 202, which begins as +1 214 does.
    await queue(30)
    const numbers = await Promise.all(
      (await claim()).map(async (call) => shown(await choose(call))),
    )
    assert.equal(numbers.length, 30)
    assert.ok(!numbers.includes(london))
    assert.deepEqual(await callsOf(), { [boston]: 0, [dallas]: 30, [london]: 0 })
  })

  it('is used as evenly as can be, however many calls are chosen at a time', async () => {
    const near = ['+12025550181', '+12025550182', '+12025550183']
    for (const number of near) await add(number)
    await queue(31)
    await Promise.all((await claim()).map((call) => choose(call)))
    assert.deepEqual(
      Object.values(await callsOf()).toSorted((a, b) => a - b),
      [10, 10, 11],
    )
  })

  it('is never used more often than it may, and calls wait for the next day', async () => {
    await add(boston, { calls_per_day: 3 })
    await add(london, { calls_per_day: 2 })
    await queue(12)
    const calls = await claim()
    const choices = await Promise.all(calls.map((call) => choose(call)))
    const waiting = calls.filter((_, index) => choices[index]?.kind === 'waits')
    assert.equal(waiting.length, 7)
    assert.deepEqual(await callsOf(), { [boston]: 3, [london]: 2 })
    const { callId } = one(waiting)
    const { wait_reason: reason, not_before: until, is_claimed: isClaimed } = await stored(callId)
    assert.deepEqual([reason, isClaimed], ['caller_ids_exhausted', false])
    const time = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Australia/Brisbane',
      timeStyle: 'medium',
    })
    assert.equal(until && time.format(until), '00:00:00')
    assert.ok(until && until.getTime() > Date.now() && until.getTime() <= Date.now() + 86_400_000)
    const explained = await explainCall(test.db, organization.organizationId, callId)
    assert.equal(explained?.reasons[0]?.code, 'caller_ids_exhausted')
    assert.equal(explained.reasons[0].until, until.toISOString())

    // The day turns.
    await execute(test.db, 'update caller_number_days set day = day - 1')
    await execute(test.db, `update calls set not_before = now() where status = 'queued'`)
    const next = await claim()
    assert.equal(next.length, 7)
    const again = await Promise.all(next.map(async (call) => shown(await choose(call))))
    assert.equal(again.filter((kind) => kind === 'waits').length, 2)
    assert.deepEqual(await callsOf(), { [boston]: 3, [london]: 2 })
  })

  it('lets waiting calls go when a number is added, changed or resumed', async () => {
    await add(boston, { calls_per_day: 1 })
    await queue(2)
    const [first, second] = await claim()
    assert.ok(first && second)
    await choose(first)
    assert.equal(shown(await choose(second)), 'waits')
    const { organizationId } = organization
    await test.db.transaction((tx) =>
      changeNumber(tx, organizationId, boston, { calls_per_day: 2 }),
    )
    await test.db.transaction((tx) => restNumber(tx, organizationId, boston, {}))
    assert.equal(shown(await choose(one(await claim()))), 'waits')
    assert.deepEqual(await stored(second.callId), {
      wait_reason: 'caller_ids_resting',
      not_before: null,
      is_claimed: false,
    })
    assert.deepEqual(await claim(), [])
    await test.db.transaction((tx) => resumeNumber(tx, organizationId, boston))
    assert.equal(shown(await choose(one(await claim()))), boston)
  })

  it('does not sleep over a number that is added while it is chosen', async () => {
    await execute(
      test.db,
      `update agent_versions set definition = definition || '{"caller_ids": ["${boston}"]}'`,
    )
    for (let round = 0; round < 10; round += 1) {
      await queue(1)
      const call = one(await claim())
      await execute(test.db, 'delete from caller_numbers')
      const [choice] = await Promise.all([choose(call), add(boston)])
      if (choice.kind !== 'waits') assert.equal(shown(choice), boston)
      else assert.equal(shown(await choose(one(await claim()))), boston)
      await execute(test.db, 'delete from calls')
    }
  })
})

describe('a call and its number', () => {
  it('stay together over attempts, and over calls to one callee', async () => {
    await add(boston)
    await add(london)
    await queue(1, '+12125550100')
    const call = one(await claim())
    assert.equal(shown(await choose(call)), boston)
    await dial(call)
    await requeueCongested(test.db, call, { attempt: 1, reason: 'SIP 503' })
    await execute(test.db, `update calls set not_before = now() where status = 'queued'`)
    const retried = one(await claim())
    assert.equal(shown(await choose(retried)), boston)
    assert.equal((await callsOf())[boston], 1, 'it is one call of the day')
    await dial(retried)
    await execute(
      test.db,
      `update calls
          set status = 'completed', lease_token = null, node_id = null, caller_id = '${london}', ended_at = now()`,
    )
    await queue(1, '+12125550100')
    assert.equal(shown(await choose(one(await claim()))), london, 'which the callee knows')
  })

  it('part when the number rests, and the call counts for the other one only', async () => {
    await add(boston)
    await add(london)
    await queue(1)
    const call = one(await claim())
    assert.equal(shown(await choose(call)), boston)
    await test.db.transaction((tx) => restNumber(tx, organization.organizationId, boston, {}))
    assert.equal(shown(await choose(call)), london)
    assert.deepEqual(await callsOf(), { [boston]: 0, [london]: 1 })
  })

  it('do not count where the call is not dialled', async () => {
    await add(boston)
    await queue(2)
    const [cancelled, waiting] = await claim()
    assert.ok(cancelled && waiting)
    await choose(cancelled)
    await choose(waiting)
    assert.equal((await callsOf())[boston], 2)
    await giveNumberBack(test.db, waiting)
    assert.equal((await callsOf())[boston], 2, 'this node still holds it')
    await execute(test.db, 'update calls set lease_token = null, node_id = null')
    await giveNumberBack(test.db, waiting)
    await giveNumberBack(test.db, waiting)
    assert.equal((await callsOf())[boston], 1)
    const { organizationId, callId } = cancelled
    await test.db.transaction((tx) => endCall(tx, cancelQueued(organizationId, callId, 'Test')))
    assert.equal((await callsOf())[boston], 0)
  })
})

describe('a number of one trunk', () => {
  it('is shown on that trunk only, and another number on another trunk where that one cannot be used', async () => {
    await insertTrunk(test.db, 'b', { uris: ['sip:b.example'], cps: 100, priority: 50 })
    await add(boston, { trunk: 'b' })
    await queue(2)
    const [call, other] = await claim()
    assert.ok(call && other)
    const choice = await choose(call)
    assert.ok(choice.kind === 'chosen' && choice.trunk === 'b', JSON.stringify(choice))
    await test.db.transaction((tx) => pauseTrunk(tx, testBox, 'b', true))
    assert.equal(shown(await choose(other)), 'trunk_down')
    await add(london, { trunk: 'a' })
    assert.equal(shown(await choose(other)), london)
    await execute(test.db, `delete from trunks where name = 'b'`)
    assert.equal(shown(await choose(other)), london)
  })
})

describe('a number that looks spoiled', () => {
  const lines: string[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (fields, message) => lines.push(`${message} ${JSON.stringify(fields)}`),
  }
  /** Ends dialled calls of the number, the first ones by this answer of the carrier. */
  const end = async (count: number, refused: number, sipStatus: number): Promise<void> => {
    await queue(count)
    for (const [index, call] of (await claim()).entries()) {
      assert.equal(shown(await choose(call)), boston)
      await dial(call)
      const tried = {
        trunk: 'a',
        gateway: 'sip:a.example',
        startedAt: new Date(),
        endedAt: new Date(),
      }
      const status = index < refused ? sipStatus : 486
      const each = { ...tried, sipStatus: status, reason: 'SIP.', invited: true, rang: false }
      await insertTries(test.db, call, 1, [each])
      const result = { status: 'failed', answerStatus: 'unknown' } as const
      await test.db.transaction((tx) => endCall(tx, endHeld(call, result)))
    }
  }
  const look = async () => {
    await watchNumbers(test.db, logger)
    return one(await listNumbers(test.db, organization.organizationId))
  }
  beforeEach(async () => {
    lines.length = 0
    await execute(test.db, 'delete from caller_number_results')
  })

  it('is told once, and rests for a day where that was asked for', async () => {
    await add(boston, { rest_when_flagged: true })
    await end(3, 1, 608)
    assert.equal((await look()).flag_reason, null)
    await end(2, 2, 607)
    const flagged = await look()
    assert.match(flagged.flag_reason ?? '', /refused 3 of its last 5 calls/)
    assert.equal(flagged.state, 'resting')
    await look()
    assert.equal(lines.length, 1)
    assert.match(one(lines), /^a number looks spoiled /)
    assert.ok(!one(lines).includes(boston), 'the log masks it')
    const [finding] = await checkNumbers(test.db)
    assert.match(finding?.message ?? '', /refused 3 of its last 5 calls.* It rests\.$/)

    await queue(1)
    const call = one(await claim())
    assert.equal(shown(await choose(call)), 'waits')
    const { wait_reason: reason, not_before: until } = await stored(call.callId)
    assert.equal(reason, 'caller_ids_resting')
    assert.equal(until?.toISOString(), flagged.rests_until)
    await add(london)
    assert.equal(shown(await choose(one(await claim()))), london, 'others are used meanwhile')

    // A day later.
    await execute(
      test.db,
      `update caller_numbers set rests_until = now() where phone_number = '${boston}'`,
    )
    const rested = await look()
    assert.deepEqual([rested.state, rested.flag_reason], ['active', null])
  })

  it('goes on where no rest was asked for, and is not told again on the day on which it is resumed', async () => {
    await add(boston)
    await end(12, 10, 603)
    assert.match((await look()).flag_reason ?? '', /10 of its last 12 calls were declined/)
    assert.equal((await look()).state, 'active')
    await test.db.transaction((tx) => resumeNumber(tx, organization.organizationId, boston))
    assert.equal((await look()).flag_reason, null)
    assert.equal(lines.length, 1)
  })
})
