import { sql, type Database, type Queryable } from '../../database/database.ts'
import type { EndCall } from '../../domains/calls/lifecycle/end-call.ts'
import { releaseLostClaimsText } from '../../domains/calls/lifecycle/release-lost-claims.ts'
import { endHeld } from '../../domains/calls/lifecycle/end-held-call.ts'
import type { CallFence } from '../../domains/calls/lifecycle/call-fence.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** Calls ended in one sweep; the next sweep takes the rest. */
const maxCallsPerSweep = 200

export const lostNodeReason =
  'The node that carried this call stopped. The phone may have rung, so it is not dialled again.'
export const lostTrackReason =
  'The process that carried this call lost track of it. The phone may have rung, so it is not dialled again.'
const overdueReason = 'The call did not end in time, and was ended by the watchdog.'

/** How many calls went back to the queue, and how many ended. */
interface Rescued {
  readonly requeued: number
  readonly ended: number
}

const declareDeadStatement = sql(
  'rescue.declareDead',
  `update nodes
      set rescued_at = now()
    where lease_until < clock_timestamp()
      and rescued_at is null`,
)

const forgetStatement = sql(
  'rescue.forgetNodes',
  `delete from nodes n
    where n.rescued_at is not null
      and not exists (select from calls c where c.node_id = n.id and c.lease_token is not null)`,
)

/** Read once, and not once for each call. */
const deadNodes = 'any (array(select n.id from nodes n where n.rescued_at is not null))'

/**
 * Takes the calls of nodes whose lease has expired: undialled ones go back to the queue, dialled ones end `failed`,
 * because the phone may have rung (D3). A node that is declared dead can never renew, and its fence no longer
 * passes, so it can neither dial nor write.
 */
export const rescueDeadNodes = async (db: Database, endCall: EndCall): Promise<Rescued> => {
  await db.run(declareDeadStatement, [])
  const requeued = await requeueUndialled(db, requeueOfDeadNodes, [])
  const fences = await db.rows<FenceRow>(dialledByDeadNodes, [maxCallsPerSweep])
  const ended = await endLostCalls(db, fences.map(fenceOf), lostNodeReason, endCall)
  await db.run(forgetStatement, [])
  return { requeued, ended }
}

// Calls assigned to the node that were claimed a while ago and that it does not know: its own memory is the proof.
const forgottenFragment = `c.node_id = $1
      and c.id <> all($2::uuid[])
      and c.claimed_at < clock_timestamp() - interval '10 seconds'`

/** Rows that name this node although it does not have the call: left by an error between two writes. */
export const rescueForgottenCalls = async (
  db: Database,
  nodeId: string,
  knownCallIds: readonly string[],
  endCall: EndCall,
): Promise<Rescued> => {
  const requeued = await requeueUndialled(db, requeueForgotten, [nodeId, knownCallIds])
  const fences = await db.rows<FenceRow>(dialledForgotten, [nodeId, knownCallIds, maxCallsPerSweep])
  return {
    requeued,
    ended: await endLostCalls(db, fences.map(fenceOf), lostTrackReason, endCall),
  }
}

const overdueStatement = sql(
  'rescue.overdueCalls',
  `select organization_id, id, lease_token
     from calls
    where lease_token is not null
      and deadline_at < clock_timestamp()
    order by deadline_at
    limit $1`,
)

/** The watchdog: no call stays non-terminal past ring + cap + 60 s (D3). Returns the ids of those it ended. */
export const endOverdueCalls = async (
  db: Database,
  endCall: EndCall,
): Promise<readonly string[]> => {
  const fences = (await db.rows<FenceRow>(overdueStatement, [maxCallsPerSweep])).map(fenceOf)
  await endLostCalls(db, fences, overdueReason, endCall)
  return fences.map((fence) => fence.callId)
}

/** One transaction per call: a row that cannot be ended must not block the others. Returns how many ended. */
const endLostCalls = async (
  db: Database,
  fences: readonly CallFence[],
  outcomeReason: string,
  endCall: EndCall,
): Promise<number> => {
  const errors: unknown[] = []
  let ended = 0
  for (const fence of fences) {
    try {
      if (await endLostCall(db, fence, outcomeReason, endCall)) ended += 1
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'lost calls could not be ended')
  return ended
}

/**
 * Ends `failed` a call that no node carries any more. The answering party and the result are unknown (D3):
 * `unknown`.
 */
export const endLostCall = (
  db: Database,
  fence: CallFence,
  outcomeReason: string,
  endCall: EndCall,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const end = endHeld(fence, { status: 'failed', answerStatus: 'unknown', outcomeReason })
    return (await endCall(tx, end)).length > 0
  })

interface FenceRow {
  readonly organization_id: OrganizationId
  readonly id: string
  readonly lease_token: string
}

const fenceOf = (row: FenceRow): CallFence => ({
  organizationId: row.organization_id,
  callId: row.id,
  leaseToken: row.lease_token,
})

const requeueOfDeadNodes = sql(
  'rescue.requeueOfDeadNodes',
  releaseLostClaimsText(`c.node_id = ${deadNodes}`),
)

const requeueForgotten = sql('rescue.requeueForgotten', releaseLostClaimsText(forgottenFragment))

const requeueUndialled = (
  db: Queryable,
  statement: typeof requeueForgotten,
  values: readonly unknown[],
): Promise<number> => db.run(statement, values)

const dialledByDeadNodes = sql(
  'rescue.dialledByDeadNodes',
  `select c.organization_id, c.id, c.lease_token
     from calls c
    where c.lease_token is not null
      and c.status <> 'queued'
      and c.node_id = ${deadNodes}
    limit $1`,
)

const dialledForgotten = sql(
  'rescue.dialledForgotten',
  `select c.organization_id, c.id, c.lease_token
     from calls c
    where c.lease_token is not null
      and c.status <> 'queued'
      and ${forgottenFragment}
    limit $3`,
)
