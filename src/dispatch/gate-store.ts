import { sql, type Queryable, type Transaction } from '../database/database.ts'
import { heldBy } from '../domains/calls/lifecycle/call-fragments.ts'
import type { CallFence } from '../domains/calls/lifecycle/call-fence.ts'
import type { CallOrigin } from '../domains/calls/lifecycle/call-states.ts'
import type { LaneKind } from '../domains/calls/lane-store.ts'
import type { AgentDefinition } from '../domains/agents/agent-definition.ts'
import type { CallingPolicyJson } from '../domains/organizations/calling-policy.ts'
import type { OrganizationMode } from '../domains/organizations/organization-mode.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

/** What the gate judges: the claimed call and everything that may have changed since it was accepted. */
export interface GateRow {
  readonly contact_id: string
  readonly agent_id: string
  readonly agent_version: number
  readonly phone_number: string
  readonly origin: CallOrigin
  readonly batch_id: string | null
  readonly attempt: number
  readonly is_cancel_requested: boolean
  readonly is_contact_known: boolean
  readonly is_agent_eligible: boolean
  readonly is_on_do_not_call_list: boolean
  readonly policy: CallingPolicyJson
  readonly lane_kind: LaneKind
  readonly time_zones: string
  readonly is_lane_open: boolean
  readonly is_lane_paused: boolean
  readonly opens_at: Date | null
  /** Null: no edge within the horizon. */
  readonly closes_at: Date | null
  readonly max_duration_seconds: number | null
  readonly mode: OrganizationMode | null
  /** The engine settings of the agent's file, validated when it was published. */
  readonly engine: AgentDefinition['engine'] | null
  /** What the callee sees of a live organization. */
  readonly caller_id: string | null
  readonly now: Date
}

// A lane that never opens has its opening at infinity, which no Date can represent. One that is computed again
// before it closes has no known edge: its opening was cut at the horizon, or is about to change. All rows around
// the call are found by their key (`limit 1` leaves no other join), whatever statistics the planner has.
const loadStatement = sql(
  'gate-store.loadForGate',
  `select c.contact_id, c.agent_id, c.agent_version, c.phone_number, c.origin, c.batch_id, c.attempt,
          c.cancel_requested_at is not null as is_cancel_requested,
          k.id is not null as is_contact_known,
          coalesce(a.published_version is not null and a.archived_at is null, false) as is_agent_eligible,
          d.phone_number is not null as is_on_do_not_call_list,
          o.policy, l.kind as lane_kind, l.time_zones,
          coalesce(l.opens_at <= clock_timestamp() and l.closes_at > clock_timestamp(), false) as is_lane_open,
          l.paused as is_lane_paused,
          case when isfinite(l.opens_at) then l.opens_at end as opens_at,
          case when isfinite(l.closes_at) and l.recompute_at >= l.closes_at then l.closes_at end as closes_at,
          (v.definition ->> 'max_duration_seconds')::integer as max_duration_seconds,
          o.mode, v.definition -> 'engine' as engine, c.caller_id,
          clock_timestamp() as now
     from calls c
     join organizations o on o.id = c.organization_id
     join lateral (select * from lanes
                    where organization_id = c.organization_id and id = c.lane_id
                    limit 1) l on true
     join lateral (select definition from agent_versions
                    where organization_id = c.organization_id and agent_id = c.agent_id and version = c.agent_version
                    limit 1) v on true
     left join lateral (select published_version, archived_at from agents
                         where organization_id = c.organization_id and id = c.agent_id
                         limit 1) a on true
     left join lateral (select id from contacts
                         where organization_id = c.organization_id and id = c.contact_id
                         limit 1) k on true
     left join lateral (select phone_number from dnc_numbers
                         where organization_id = c.organization_id and phone_number = c.phone_number
                         limit 1) d on true
    where c.organization_id = $1
      and c.id = $2
      and ${heldBy('$3', 'c.lease_token')}
      and c.status = 'queued'`,
)

/** Undefined: this node no longer holds the call. */
export const loadForGate = (db: Queryable, fence: CallFence): Promise<GateRow | undefined> =>
  db.row<GateRow>(loadStatement, [fence.organizationId, fence.callId, fence.leaseToken])

const lockStatement = sql(
  'gate-store.lockOrganization',
  `select
     from dispatch_organizations
    where organization_id = $1
      for no key update`,
)

const countStatement = sql(
  'gate-store.countAttempts',
  `select count(*) as attempts
     from calls
    where organization_id = $1
      and phone_number = $2
      and dialing_at >= $3`,
)

/**
 * How often the number was dialled since `since`. Holds the organization's row until commit, so that two calls to
 * one number cannot both be the last allowed one. Calls requeued by a congested carrier do not count, because they
 * never rang.
 */
export const countAttempts = async (
  tx: Transaction,
  organizationId: OrganizationId,
  phoneNumber: string,
  since: Date,
): Promise<number> => {
  // Counted in a later statement than the lock, so that the previous holder's dial is seen.
  const [, row] = await Promise.all([
    tx.run(lockStatement, [organizationId]),
    tx.row<{ attempts: number }>(countStatement, [organizationId, phoneNumber, since]),
  ])
  return row?.attempts ?? 0
}
