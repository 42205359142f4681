import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  clearOrganizations,
  createCallingOrganization,
  execute,
  insertNode,
  openTrunk,
  queueCalls,
} from '../../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts'
import { newId } from '../../../runtime/ids.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'
import type { CallFence } from './call-fence.ts'
import { findEndOfCongestion, maxCongestionMs, minCongestions } from './congestion-deadline.ts'
import { requeueCongested, requeueTrunkDown, requeueUnsent } from './requeue-call.ts'

const reason = 'SIP 503 Service Unavailable: the carrier has no room for the call now.'

let test: TestDatabase
let call: CallFence
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  await openTrunk(test.db)
  const organization = await createCallingOrganization(test.db)
  const [row] = await queueCalls(test.db, organization, 1)
  call = {
    organizationId: organization.organizationId as OrganizationId,
    callId: row?.id ?? '',
    leaseToken: newId(),
  }
  await insertNode(test.db, nodeId)
})
const nodeId = newId()

/** The call as it is after its INVITE left. */
const dial = () =>
  execute(
    test.db,
    `update calls set status = 'dialing', lease_token = $2, node_id = $3, dialing_at = now(),
                      deadline_at = now() + interval '1 minute' where id = $1`,
    [call.callId, call.leaseToken, nodeId],
  )

const refuse = async (times: number): Promise<void> => {
  for (let refused = 0; refused < times; refused += 1) {
    await dial()
    assert.equal(await requeueCongested(test.db, call, { attempt: refused + 1, reason }), true)
  }
}

const congestion = async () =>
  (
    await execute<{ congestions: number; congested_since: Date | null }>(
      test.db,
      'select congestions, congested_since from calls where id = $1',
      [call.callId],
    )
  )[0]

const age = (ms: number) =>
  execute(test.db, `update calls set congested_since = now() - ${ms} * interval '1 millisecond'`)

const asked = async (): Promise<string | undefined> => {
  await dial()
  return findEndOfCongestion(test.db, call, reason)
}

describe('a call that the carrier refuses for congestion again and again', () => {
  it('ends after a day, with the answer, how often and how long', async () => {
    await refuse(minCongestions - 1)
    assert.equal(await asked(), undefined, 'its first day')
    await age(maxCongestionMs + 3_600_000)
    assert.equal(
      await asked(),
      'SIP 503 Service Unavailable: the carrier has no room for the call now; refused 10 times in 25 hours, the call is given up.',
    )
  })

  it('goes on after a day of few tries, such as those of a short calling window', async () => {
    await refuse(minCongestions - 2)
    await age(3 * maxCongestionMs)
    assert.equal(await asked(), undefined)
  })

  it('begins to count anew after an outage of the trunk, and not after an INVITE that was not sent', async () => {
    await refuse(3)
    await dial()
    await requeueUnsent(test.db, call, 'Not sent.')
    assert.equal((await congestion())?.congestions, 3)
    await dial()
    await requeueTrunkDown(test.db, call, { attempt: 4, reason: 'Gone.' })
    assert.deepEqual(await congestion(), { congestions: 0, congested_since: null })
  })

  it('is no matter of a node that lost it', async () => {
    await refuse(minCongestions)
    await age(2 * maxCongestionMs)
    await dial()
    const lost = { ...call, leaseToken: newId() }
    assert.equal(await findEndOfCongestion(test.db, lost, reason), undefined)
  })
})
