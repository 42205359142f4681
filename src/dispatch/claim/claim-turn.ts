import type { Database } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { RouteName } from '../../domains/organizations/organization-mode.ts'
import { claimCalls, settleExhausted, type ClaimedCall } from './claim-calls.ts'
import { findWork } from './find-work.ts'
import { computeDueLanes } from '../lane-edges.ts'
import { parkCalls } from '../../domains/calls/lifecycle/park-calls.ts'

/** Calls leased in one transaction, which holds the route's lock: as many as the highest pace allows at once. */
export const maxCallsPerClaim = 50
/** Claims of a route in one turn before lanes are polled again. */
const maxClaimsPerTurn = 200
/** Organizations without further calls that are settled together: other nodes look at them in vain until then. */
export const maxUnsettled = 64
/** Batches of lanes computed in one turn: at nine in the evening a whole country closes. */
const maxLaneBatchesPerTurn = 20

interface ClaimTurn {
  readonly database: Database
  readonly nodeId: string
  /** Routes that this node serves; the first is served first. */
  readonly routes: readonly RouteName[]
  /** Channels of this node that are free now. */
  freeChannels(): number
  start(call: ClaimedCall): void
}

/**
 * One turn of the dispatcher: computes due lanes, then claims by each route until nothing is ready, or a limit is
 * reached. Every claim either leases a call or excludes an organization for this turn, so the turn ends. If it
 * waits for the pace of a route, it returns the milliseconds until another call is allowed.
 */
export const takeClaimTurn = async (turn: ClaimTurn): Promise<number | undefined> => {
  const work = await findWork(turn.database, turn.routes)
  const lanes = work.hasDueLanes ? await computeAllDueLanes(turn.database) : 0
  let soonestMs: number | undefined
  for (const route of lanes > 0 ? turn.routes : work.readyRoutes) {
    const retryInMs = await claimByRoute(turn, route)
    if (retryInMs !== undefined) soonestMs = Math.min(soonestMs ?? Infinity, retryInMs)
  }
  return soonestMs
}

const claimByRoute = async (turn: ClaimTurn, route: RouteName): Promise<number | undefined> => {
  const except = new Set<string>()
  const unsettled: OrganizationId[] = []
  const settle = (): Promise<void> => settleExhausted(turn.database, unsettled.splice(0))
  try {
    for (let claims = 0; claims < maxClaimsPerTurn; claims += 1) {
      const limit = Math.min(turn.freeChannels(), maxCallsPerClaim)
      if (limit < 1) return undefined
      const request = { nodeId: turn.nodeId, route, limit, except: [...except] }
      const claim = await claimCalls(turn.database, request)
      for (const call of claim.calls) turn.start(call)
      for (const organizationId of claim.exhausted) {
        const lanes = claim.crowded.get(organizationId)
        // Parked: the calls behind them may be claimed now.
        const parked = lanes ? await parkCalls(turn.database, organizationId, lanes) : 0
        if (parked > 0) continue
        except.add(organizationId)
        unsettled.push(organizationId)
      }
      if (unsettled.length >= maxUnsettled) await settle()
      if (claim.stopped !== 'limit') return claim.retryInMs
    }
    return 0
  } finally {
    if (unsettled.length > 0) await settle()
  }
}

const computeAllDueLanes = async (database: Database): Promise<number> => {
  let lanes = 0
  for (let batch = 0; batch < maxLaneBatchesPerTurn; batch += 1) {
    const computed = await computeDueLanes(database)
    lanes += computed
    if (computed === 0) break
  }
  return lanes
}
