import { insertCall } from '../../../src/domains/calls/lifecycle/insert-call.ts'
import { finishCall } from '../../../tests/support/call-ends.ts'
import { sql } from '../../../src/database/database.ts'
import type { OrganizationId } from '../../../src/contract/organization-id.ts'
import { newOrganizationId } from '../../../src/domains/organizations/organization-id.ts'
import { newId } from '../../../src/runtime/ids.ts'
import { settle } from '../claims.ts'
import { claimRatePerSecond, ratePerSecond } from '../figures.ts'
import { createClaimer, openStand } from '../stand.ts'
import { backlog, claim, enqueue, jobsPerClaim, serverOfArguments } from './workload.ts'

const organizations = 100
const lanesStatement = sql(
  'bench.immediateLanes',
  `select organization_id, id from lanes where kind = 'immediate'`,
)

const stand = await openStand(serverOfArguments(), 'contest_outdial', {
  calls: backlog,
  organizations,
})
const { db } = stand
const lanes = await db.rows<{ organization_id: OrganizationId; id: string }>(lanesStatement, [])

const claimNext = createClaimer(stand, jobsPerClaim)
const take = async () => (await claimNext()).calls

let next = 0
const enqueued = await ratePerSecond(enqueue, async () => {
  next += 1
  const lane = lanes[next % lanes.length] ?? { organization_id: newOrganizationId(), id: '' }
  await insertCall(db, lane.organization_id, {
    id: newId(),
    origin: 'api',
    contactId: lane.organization_id,
    agentId: lane.organization_id,
    agentVersion: 1,
    phoneNumber: `+1202${3_000_000 + next}`,
    laneId: lane.id,
  })
  return 1
})
// Ended like a call refused right before dialling: the one end that directly follows a claim.
const worked = await ratePerSecond(claim, async () => {
  const calls = await take()
  await Promise.all(
    calls.map((call) => db.transaction((tx) => finishCall(tx, call, { status: 'failed' }))),
  )
  return calls.length
})
const claimed = await claimRatePerSecond(claim, take, (calls) => settle(db, calls))
await stand.close()
console.log(JSON.stringify({ enqueued, claimed, worked }))
