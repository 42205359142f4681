import {
  automationRunStatuses,
  type AutomationRunStatus,
  type RunFailureCode,
} from '../../contract/automation-runs.ts'
import type { AutomationStatus } from '../../contract/automations.ts'
import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import { newestFirst } from '../../database/newest-first.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'
import { liveStates, statusIn, type CallOrigin } from '../calls/lifecycle/call-states.ts'
import type { CallingPolicyJson } from '../organizations/calling-policy.ts'
import { activeFragment } from './run-fragments.ts'

/** A run's columns for clients. */
export interface RunRow {
  readonly id: string
  readonly status: AutomationRunStatus
  readonly automation_id: string
  readonly contact_id: string
  readonly failure_code: RunFailureCode | null
  readonly queued_at: Date
  readonly started_at: Date | null
  readonly completed_at: Date | null
  readonly cancelled_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Everything but the id. */
const runColumns = `status, automation_id, contact_id, failure_code, queued_at, started_at, completed_at,
       cancelled_at, created_at, updated_at`

/** The facts needed to accept a run, read in one round trip. */
export interface RunPlacement {
  readonly policy: CallingPolicyJson
  /** Null: the organization has no such Automation. */
  readonly automation_id: string | null
  readonly automation_status: AutomationStatus
  readonly published_version: number
  /** Null: the organization has no such contact. */
  readonly contact_id: string | null
  readonly phone_number: string | null
  readonly is_on_do_not_call_list: boolean
}

const placementStatement = sql(
  'run-store.findRunPlacement',
  `select o.policy,
          a.id as automation_id, a.status as automation_status, a.published_version,
          c.id as contact_id, c.phone_number,
          d.phone_number is not null as is_on_do_not_call_list
     from organizations o
     left join automations a on a.organization_id = o.id and a.id = $2
     left join contacts c    on c.organization_id = o.id and c.id = $3
     left join dnc_numbers d on d.organization_id = o.id and d.phone_number = c.phone_number
    where o.id = $1`,
)

/** Ids that are not UUIDs match nothing. */
export const findRunPlacement = (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
  contactId: string,
): Promise<RunPlacement | undefined> =>
  db.row<RunPlacement>(placementStatement, [
    organizationId,
    isUuid(automationId) ? automationId : null,
    isUuid(contactId) ? contactId : null,
  ])

export interface NewRun {
  readonly id: string
  readonly origin: CallOrigin
  readonly automationId: string
  readonly automationVersion: number
  readonly contactId: string
  /** The key that asks for it. */
  readonly apiKeyId?: string | undefined
}

const insertStatement = sql(
  'run-store.insertRun',
  `insert into automation_runs (organization_id, id, origin, automation_id, automation_version, contact_id, wake_at,
                                api_key_id)
   values ($1, $2, $3, $4, $5, $6, now(), $7)
   on conflict (organization_id, automation_id, contact_id) where status in ('queued', 'running', 'waiting')
   do nothing
   returning id, ${runColumns}`,
)

/** A run that is due at once. Undefined: the contact has an active run of this Automation. */
export const insertRun = (
  db: Queryable,
  organizationId: OrganizationId,
  run: NewRun,
): Promise<RunRow | undefined> =>
  db.row<RunRow>(insertStatement, [
    organizationId,
    run.id,
    run.origin,
    run.automationId,
    run.automationVersion,
    run.contactId,
    run.apiKeyId ?? null,
  ])

const activeStatement = sql(
  'run-store.findActiveRun',
  `select id
     from automation_runs
    where organization_id = $1
      and automation_id = $2
      and contact_id = $3
      and status in ('queued', 'running', 'waiting')`,
)

export const findActiveRun = async (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
  contactId: string,
): Promise<string | undefined> =>
  (await db.row<{ id: string }>(activeStatement, [organizationId, automationId, contactId]))?.id

const findStatement = sql(
  'run-store.findRun',
  `select id, ${runColumns}
     from automation_runs
    where organization_id = $1
      and id = $2`,
)

/** Undefined for an unknown id, one of another organization, and a malformed id. */
export const findRun = async (
  db: Queryable,
  organizationId: OrganizationId,
  runId: string,
): Promise<RunRow | undefined> =>
  isUuid(runId) ? db.row<RunRow>(findStatement, [organizationId, runId]) : undefined

/** Newest first. Filter values are named as in the contract; ids are UUIDs. */
export const listRunRows = newestFirst<
  RunRow,
  'status' | 'automation_id' | 'contact_id' | 'created_after' | 'created_before'
>({
  name: 'run-store.listRunRows',
  columns: runColumns,
  table: 'automation_runs',
  sortColumn: 'created_at',
  filters: {
    status: 'status = ?',
    automation_id: 'automation_id = ?',
    contact_id: 'contact_id = ?',
    created_after: 'created_at >= ?::timestamptz',
    created_before: 'created_at < ?::timestamptz',
  },
  merged: { filter: 'status', values: automationRunStatuses },
  // Worded as the indexes of migrations/0150-list-indexes.sql.
  ways: [
    { filter: 'contact_id' },
    { filter: 'automation_id', where: "queued_at > '-infinity'" },
    { where: "id <> '00000000-0000-0000-0000-000000000000'" },
  ],
})

/** A run's position, for its cancellation. */
interface RunPosition {
  readonly sequence: number
  readonly call_id: string | null
  readonly is_call_live: boolean
}

const positionStatement = sql(
  'run-store.findActivePosition',
  `select r.sequence, r.call_id, coalesce(${statusIn(liveStates, 'c.status')}, false) as is_call_live
     from automation_runs r
     left join lateral (select status from calls
                         where organization_id = r.organization_id and id = r.call_id
                         limit 1) c on true
    where r.organization_id = $1
      and r.id = $2
      and ${activeFragment('r.status')}`,
)

/** Undefined: the run is over, or unknown. */
export const findActivePosition = (
  db: Queryable,
  organizationId: OrganizationId,
  runId: string,
): Promise<RunPosition | undefined> =>
  db.row<RunPosition>(positionStatement, [organizationId, runId])

const cancelStatement = sql(
  'run-store.cancelRunAt',
  `with cancelled as (
     update automation_runs
        set status              = 'cancelled',
            cancel_requested_at = coalesce(cancel_requested_at, now()),
            cancelled_at        = now(),
            wake_at             = null,
            wait_reason         = null,
            sequence            = sequence + 1,
            updated_at          = now()
      where organization_id = $1
        and id = $2
        and sequence = $3
        and ${activeFragment('status')}
     returning organization_id, id, sequence, step, ${runColumns}
   ),
   move as (
     insert into automation_run_moves (organization_id, run_id, sequence, step, move, reason)
     select organization_id, id, sequence, step, 'cancel', 'Cancellation was asked for.'
       from cancelled
   )
   select id, ${runColumns}
     from cancelled`,
)

/** Cancels a run that is still at this move. Undefined: it has moved on. */
export const cancelRunAt = (
  db: Queryable,
  organizationId: OrganizationId,
  runId: string,
  sequence: number,
): Promise<RunRow | undefined> => db.row<RunRow>(cancelStatement, [organizationId, runId, sequence])

const requestStatement = sql(
  'run-store.requestRunCancel',
  `update automation_runs
      set cancel_requested_at = coalesce(cancel_requested_at, now()),
          wake_at             = now(),
          wake_count          = wake_count + 1
    where organization_id = $1
      and id = $2
      and sequence = $3
      and ${activeFragment('status')}
   returning id, ${runColumns}`,
)

/** Asks a run with a live call to end with that call. Undefined: it has moved on. */
export const requestRunCancel = (
  db: Queryable,
  organizationId: OrganizationId,
  runId: string,
  sequence: number,
): Promise<RunRow | undefined> =>
  db.row<RunRow>(requestStatement, [organizationId, runId, sequence])

const wakeStatement = sql(
  'run-store.wakeRunOfCall',
  `update automation_runs
      set wake_at    = now(),
          wake_count = wake_count + 1
    where organization_id = $1
      and id = $2
      and call_id = $3
      and ${activeFragment('status')}`,
)

/** Whether a run was waiting for this call. */
export const wakeRunOfCall = async (
  tx: Transaction,
  organizationId: OrganizationId,
  runId: string,
  callId: string,
): Promise<boolean> => (await tx.run(wakeStatement, [organizationId, runId, callId])) > 0

const wakeAllStatement = sql(
  'run-store.wakeRunsOfAutomation',
  `update automation_runs
      set wake_at    = now(),
          wake_count = wake_count + 1
    where organization_id = $1
      and automation_id = $2
      and status in ('queued', 'running', 'waiting')
      and ($3::text is null or (case $3 when 'calls' then call_id is not null and phase = 'call'
                                        else wait_reason = $3 end))`,
)

/** Wakes runs: those with a call, those held by a pause, or all active ones. */
export const wakeRunsOfAutomation = (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
  which: 'calls' | 'paused' | 'all',
): Promise<number> =>
  db.run(wakeAllStatement, [organizationId, automationId, which === 'all' ? null : which])

/** One line of a run's history. */
export interface RunMove {
  readonly sequence: number
  readonly step: string | null
  readonly move: string
  readonly attempt: number | null
  readonly call_id: string | null
  readonly reason: string
  readonly until: Date | null
  readonly at: Date
}

const movesStatement = sql(
  'run-store.listRunMoves',
  `select sequence, step, move, attempt, call_id, reason, until, at
     from automation_run_moves
    where organization_id = $1
      and run_id = $2
    order by sequence`,
)

/** A run's history, in order. */
export const listRunMoves = (
  db: Queryable,
  organizationId: OrganizationId,
  runId: string,
): Promise<RunMove[]> => db.rows<RunMove>(movesStatement, [organizationId, runId])
