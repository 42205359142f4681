import { sql, type Database, type Transaction } from '../../database/database.ts'
import type { RouteName } from '../../domains/organizations/organization-mode.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import {
  claimSettings,
  claimStatement,
  lockExhaustedStatement,
  settleStatement,
} from './claim-statements.ts'

/*
 * How queued calls of one route are claimed: one transaction of four statements in two round trips, and now and then
 * one more for the organizations that gave fewer calls than requested.
 *
 *   1  lock the route                      one claim at a time decides about its channels and calls per second
 *   2  refill its bucket, count live rows  in a later statement than the lock, so the count is exact
 *   3  lock organizations, fairest first   NO KEY UPDATE SKIP LOCKED: placing calls goes on meanwhile
 *   ── round trip ──
 *   4  claim                               capacity of each organization counted under its lock
 *      and commit, in the same round trip; the calls start here
 *   ── at the end of a turn, for all its claims: one round trip ──
 *   5  lock the exhausted ones FOR UPDATE  unless somebody is placing a call there right now
 *   6  settle them: not ready until …      looks again, after the lock: no wake-up is lost
 *
 * An organization that is not settled, because its node was killed, stays ready: the next claim finds it exhausted again.
 *
 * Invariant: live rows of an organization never exceed its concurrency, live rows of a route never exceed its channels:
 * both are counts of rows under a lock, not counters that could leak. A node's own channels are its own to count.
 *
 * Invariant: a call is claimed only by its organization's route, and only by a node that serves this route.
 *
 * Fairness is start-time fair queueing, twice: among organizations, and within each among sources of work (immediate
 * calls, each batch) of one rank. A lower rank goes first; lanes of one source go by age. Lanes are found by skipping
 * through the queue's index, so that empty lanes cost nothing and can starve nobody. An organization with more lanes than
 * one claim looks at is gone through in parts, its immediate calls in each of them; it stays ready meanwhile.
 *
 * EXPLAIN (10 organizations of 3 lanes each, 10 calls): every access is by index. dispatch_organizations_ready gives ten
 * rows in order; calls_queue is probed once per lane (40 probes, index only, 0.2 ms) and read once per lane for the calls
 * that are due; calls_live is counted per organization. Half of the statement's time is the update of ten calls in six
 * indexes, a quarter the start of so large a plan. Figures: benchmarks/README.md.
 */

/** Organizations inspected in one claim. */
const maxOrganizations = 32

interface ClaimRequest {
  readonly nodeId: string
  readonly route: RouteName
  /** Calls wanted. */
  readonly limit: number
  /** Organizations already found to have nothing more in this turn. */
  readonly except: readonly string[]
}

export interface ClaimedCall {
  readonly organizationId: OrganizationId
  readonly callId: string
  readonly leaseToken: string
  readonly route: RouteName
}

export interface CallClaim {
  readonly calls: readonly ClaimedCall[]
  /** Organizations that gave fewer calls than requested. */
  readonly exhausted: readonly OrganizationId[]
  /** Lanes with calls whose numbers are in use, by organization: `parkCalls` moves these out of the way. */
  readonly crowded: ReadonlyMap<OrganizationId, readonly string[]>
  /**
   * Why it ended: `limit` reached (there may be more), nothing `ready`, the trunk `down`, no free `channels`, or
   * `pace`.
   */
  readonly stopped: 'limit' | 'nothing_ready' | 'down' | 'channels' | 'pace'
  /** With `pace`: when the next call may start. */
  readonly retryInMs?: number
}

/**
 * Leases up to `limit` due calls for this node; their status stays `queued`. The organizations that gave fewer than
 * requested are to be settled afterwards (`settleExhausted`).
 */
export const claimCalls = async (db: Database, request: ClaimRequest): Promise<CallClaim> => {
  const { claim } = await db.transaction(async (tx) => {
    const [, route, organizations] = await Promise.all([
      tx.run(lockRouteStatement, [request.route]),
      tx.row<RouteRow>(refillRouteStatement, [request.route]),
      tx.rows<{ organization_id: OrganizationId }>(lockOrganizationsStatement, [
        Math.min(request.limit, maxOrganizations),
        request.except,
        request.route,
      ]),
    ])
    if (!route) throw new Error(`the route ${request.route} has no row`)
    const locked = organizations.map((row) => row.organization_id)
    return { claim: whyNone(route, locked) ?? claimFrom(tx, request, route, locked) }
  })
  return claim
}

const whyNone = (route: RouteRow, locked: readonly OrganizationId[]): CallClaim | undefined => {
  if (locked.length === 0) return stopped('nothing_ready')
  if (route.is_down) return stopped('down')
  if (route.free_channels < 1) return stopped('channels')
  if (route.tokens >= 1) return undefined
  return { ...stopped('pace'), retryInMs: ((1 - route.tokens) / route.refill_per_second) * 1000 }
}

const stopped = (reason: CallClaim['stopped']): CallClaim => ({
  calls: [],
  exhausted: [],
  crowded: new Map(),
  stopped: reason,
})

/** The claim is valid only after its transaction has committed. */
const claimFrom = (
  tx: Transaction,
  request: ClaimRequest,
  route: RouteRow,
  locked: readonly OrganizationId[],
): Promise<CallClaim> => {
  const wanted = Math.min(request.limit, route.free_channels, Math.floor(route.tokens))
  const organizations = locked.slice(0, wanted)
  const share = Math.ceil(wanted / organizations.length)
  const claim = tx
    .rows<ClaimedRow>(claimStatement, [
      organizations,
      wanted,
      share,
      request.nodeId,
      route.virtual_time,
      request.route,
    ])
    .then((rows) => claimOf(rows, organizations, share, request.route))
  tx.withCommit(claim)
  return claim
}

/** Lets these organizations rest until they have a call that is due, and room for it. */
export const settleExhausted = (
  db: Database,
  organizations: readonly OrganizationId[],
): Promise<void> =>
  db.transaction(async (tx) => {
    const token = newId()
    tx.withCommit(
      Promise.all([
        tx.run(lockExhaustedStatement, [organizations, token]),
        tx.run(settleStatement, [organizations, token]),
      ]),
    )
  })

const claimOf = (
  rows: readonly ClaimedRow[],
  organizations: readonly OrganizationId[],
  share: number,
  route: RouteName,
): CallClaim => {
  const calls: ClaimedCall[] = []
  const crowded = new Map<OrganizationId, string[]>()
  for (const row of rows) {
    const organizationId = row.organization_id
    if (row.id === null) {
      crowded.set(organizationId, [...(crowded.get(organizationId) ?? []), row.crowded_lane_id])
    } else {
      calls.push({ organizationId, callId: row.id, leaseToken: row.lease_token, route })
    }
  }
  const isExhausted = (id: string): boolean =>
    calls.filter((call) => call.organizationId === id).length < share
  return { calls, exhausted: organizations.filter(isExhausted), crowded, stopped: 'limit' }
}

interface RouteRow {
  readonly is_down: boolean
  readonly free_channels: number
  readonly tokens: number
  readonly refill_per_second: number
  readonly virtual_time: number
}

type ClaimedRow =
  | {
      readonly organization_id: OrganizationId
      readonly id: string
      readonly lease_token: string
      readonly crowded_lane_id: null
    }
  | {
      readonly organization_id: OrganizationId
      readonly id: null
      readonly crowded_lane_id: string
    }

/**
 * The share of its pace that a trunk gets after an outage: a tenth at first, all of it after half a minute, so that
 * the waiting calls do not reach it in one burst.
 */
const recoveredShare = `least(1, greatest(0.1, coalesce(extract(epoch from clock_timestamp() - recovered_at)::double precision / 30, 1)))`

/** Channels of a route without its own limit. */
const unlimited = 2_147_483_647

const lockRouteStatement = sql(
  'claim-calls.lockRoute',
  `select ${claimSettings}
     from routes
    where name = $1
      for update`,
)

const refillRouteStatement = sql(
  'claim-calls.refillRoute',
  `update routes
      set tokens = least(burst, tokens + refill_per_second * ${recoveredShare}
                   * greatest(0, extract(epoch from clock_timestamp() - refilled_at)::double precision)),
          refilled_at = clock_timestamp()
    where name = $1
   returning case when channels is null then ${unlimited}
                  else channels - (select count(*) from calls where lease_token is not null and route = $1)
              end as free_channels,
             tokens, refill_per_second * ${recoveredShare} as refill_per_second, virtual_time,
             down_since is not null as is_down`,
)

const lockOrganizationsStatement = sql(
  'claim-calls.lockOrganizations',
  `select organization_id
     from dispatch_organizations
    where ready
      and route = $3
      and organization_id <> all($2::uuid[])
    order by virtual_time, organization_id
    limit $1
      for no key update skip locked`,
)
