import type { AnswerStatus, CallStatus } from '../../contract/states.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { RunMove } from './run-store.ts'
import type { WaitReason } from './stepping/effect.ts'
import type { Phase } from './stepping/run-facts.ts'

/** Where a run stands, and with whom. */
export interface RunPlace {
  readonly origin: string
  readonly automation_version: number
  readonly automation_name: string
  readonly definition: unknown
  readonly step: string | null
  readonly phase: Phase
  readonly attempt: number
  readonly steps_executed: number
  readonly call_id: string | null
  readonly call_status: CallStatus | null
  readonly call_answer_status: AnswerStatus | null
  readonly due_at: Date | null
  readonly wake_at: Date | null
  readonly wait_reason: WaitReason | null
  readonly cancel_requested_at: Date | null
  /** Null: the contact was erased. */
  readonly contact_name: string | null
  readonly phone_number: string | null
}

const placeStatement = sql(
  'run-position-store.findRunPlace',
  `select r.origin, r.automation_version, a.name as automation_name, v.definition,
          r.step, r.phase, r.attempt, r.steps_executed, r.call_id,
          k.status as call_status, k.answer_status as call_answer_status,
          r.due_at, r.wake_at, r.wait_reason, r.cancel_requested_at,
          c.name as contact_name, c.phone_number
     from automation_runs r
     join automations a on a.organization_id = r.organization_id and a.id = r.automation_id
     join automation_versions v on v.organization_id = r.organization_id
                               and v.automation_id = r.automation_id
                               and v.version = r.automation_version
     left join contacts c on c.organization_id = r.organization_id and c.id = r.contact_id
     left join lateral (select status, answer_status from calls
                         where organization_id = r.organization_id and id = r.call_id
                         limit 1) k on true
    where r.organization_id = $1
      and r.id = $2`,
)

/** Undefined for an unknown run. The id is a UUID. */
export const findRunPlace = (
  db: Queryable,
  organizationId: OrganizationId,
  runId: string,
): Promise<RunPlace | undefined> => db.row<RunPlace>(placeStatement, [organizationId, runId])

/** Moves that are shown; a run of many attempts has thousands. */
export const maxShownMoves = 500

const newestMovesStatement = sql(
  'run-position-store.listNewestRunMoves',
  `select sequence, step, move, attempt, call_id, reason, until, at
     from automation_run_moves
    where organization_id = $1
      and run_id = $2
    order by sequence desc
    limit ${maxShownMoves}`,
)

/** The end of a run's history, newest first. */
export const listNewestRunMoves = (
  db: Queryable,
  organizationId: OrganizationId,
  runId: string,
): Promise<RunMove[]> => db.rows<RunMove>(newestMovesStatement, [organizationId, runId])

/** What lists show of a run besides the run. */
interface ListedRunPlace {
  readonly id: string
  readonly automation_name: string
  readonly contact_name: string | null
  readonly step: string | null
  readonly due_at: Date | null
}

const listStatement = sql(
  'run-position-store.listRunPlaces',
  `select r.id, a.name as automation_name, c.name as contact_name, r.step, r.due_at
     from automation_runs r
     join automations a   on a.organization_id = r.organization_id and a.id = r.automation_id
     left join contacts c on c.organization_id = r.organization_id and c.id = r.contact_id
    where r.organization_id = $1
      and r.id = any($2)`,
)

/** By the runs' ids, which are those of one page of a list. */
export const listRunPlaces = async (
  db: Queryable,
  organizationId: OrganizationId,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, ListedRunPlace>> => {
  const rows = await db.rows<ListedRunPlace>(listStatement, [organizationId, runIds])
  return new Map(rows.map((row) => [row.id, row]))
}

/** Active runs at one step, in one status. */
interface StepCount {
  /** Null: they have not begun. */
  readonly step: string | null
  readonly status: 'queued' | 'running' | 'waiting'
  readonly runs: number
}

// Worded as the predicate of automation_runs_active, so that ended runs are not read.
const countStatement = sql(
  'run-position-store.countRunsAtSteps',
  `select step, status, count(*)::integer as runs
     from automation_runs
    where organization_id = $1
      and automation_id = $2
      and status in ('queued', 'running', 'waiting')
    group by step, status
    order by step, status`,
)

/** Where the active runs of an Automation stand. */
export const countRunsAtSteps = (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
): Promise<StepCount[]> => db.rows<StepCount>(countStatement, [organizationId, automationId])
