import type { AutomationRunStatus, RunFailureCode } from '../../contract/automation-runs.ts'
import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import { oneOfFragment } from '../../domains/automations/run-fragments.ts'
import { runStatusesBefore } from '../../domains/automations/run-states.ts'
import type { CallingPolicyJson } from '../../domains/organizations/calling-policy.ts'
import type { ClaimedRun } from './claim-runs.ts'
import type { WaitReason } from '../../domains/automations/stepping/effect.ts'
import type { RunState } from '../../domains/automations/stepping/run-facts.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** The expected move of a run: it fails if another runner made it, or if a wake-up came since. */
interface RunFence extends ClaimedRun {
  readonly sequence: number
  readonly wakeCount: number
}

export interface StoredMove {
  readonly state: RunState
  readonly callId: string | null
  readonly waitReason: WaitReason | null
  /** Null: only an event wakes it. */
  readonly wakeAt: Date | null
  readonly move: string
  readonly attempt: number | null
  readonly reason: string
  readonly until: Date | null
  readonly now: Date
}

const moveStatement = sql(
  'commit-store.storeMove',
  `with moved as (
     update automation_runs
        set status             = $5,
            step               = $6,
            phase              = $7,
            attempt            = $8,
            steps_executed     = $9,
            due_at             = $10,
            started_at         = $11,
            last_outcome       = $12,
            last_answer_status = $13,
            call_id            = $14,
            wait_reason        = $15,
            wake_at            = $16,
            sequence           = sequence + 1,
            faults             = 0,
            updated_at         = $17
      where organization_id = $1
        and id = $2
        and sequence = $3
        and wake_count = $4
        and ${oneOfFragment('status', '$18')}
     returning organization_id, id, sequence
   )
   insert into automation_run_moves (organization_id, run_id, sequence, step, move, attempt, call_id, reason, until, at)
   select organization_id, id, sequence, $6, $19, $20, $14, $21, $22, $17
     from moved`,
)

/** False: the run has moved on, or was woken meanwhile. */
export const storeMove = async (
  db: Queryable,
  fence: RunFence,
  { state, ...stored }: StoredMove,
): Promise<boolean> =>
  (await db.run(moveStatement, [
    ...fenceValues(fence),
    state.status,
    state.step,
    state.phase,
    state.attempt,
    state.stepsExecuted,
    dateOf(state.dueMs),
    dateOf(state.startedMs),
    state.last.outcome,
    state.last.answerStatus,
    stored.callId,
    stored.waitReason,
    stored.wakeAt,
    stored.now,
    runStatusesBefore(state.status),
    stored.move,
    stored.attempt,
    stored.reason,
    stored.until,
  ])) > 0

const dateOf = (epochMs: number | null): Date | null =>
  epochMs === null ? null : new Date(epochMs)

const lookStatement = sql(
  'commit-store.storeLook',
  `update automation_runs
      set status      = $5,
          wait_reason = $6,
          wake_at     = $7,
          faults      = 0,
          updated_at  = case when status = $5 then updated_at else $8::timestamptz end
    where organization_id = $1
      and id = $2
      and sequence = $3
      and wake_count = $4
      and ${oneOfFragment('status', '$9')}`,
)

/** No move to record: only when to wake, and whether it waits. */
export const storeLook = async (
  db: Queryable,
  fence: RunFence,
  look: {
    readonly status: AutomationRunStatus
    readonly waitReason: WaitReason | null
    readonly wakeAt: Date
    readonly now: Date
  },
): Promise<boolean> =>
  (await db.run(lookStatement, [
    ...fenceValues(fence),
    look.status,
    look.waitReason,
    look.wakeAt,
    look.now,
    runStatusesBefore(look.status),
  ])) > 0

const endStatement = sql(
  'commit-store.storeEnd',
  `with ended as (
     update automation_runs
        set status       = $4,
            failure_code = $5,
            completed_at = case when $4 <> 'cancelled' then $6::timestamptz end,
            cancelled_at = case when $4 = 'cancelled' then $6::timestamptz end,
            wait_reason  = null,
            wake_at      = null,
            sequence     = sequence + 1,
            updated_at   = $6
      where organization_id = $1
        and id = $2
        and sequence = $3
        and ${oneOfFragment('status', '$7')}
     returning organization_id, id, sequence, step
   )
   insert into automation_run_moves (organization_id, run_id, sequence, step, move, reason, at)
   select organization_id, id, sequence, step, $8, $9, $6
     from ended`,
)

/** The terminal state. A wake-up in between does not change it. False: the run has moved on. */
export const storeEnd = async (
  db: Queryable,
  fence: RunFence,
  end: {
    readonly status: 'completed' | 'failed' | 'cancelled'
    readonly failureCode: RunFailureCode | null
    readonly move: string
    readonly reason: string
    readonly now: Date
  },
): Promise<boolean> => {
  const [organizationId, runId, sequence] = fenceValues(fence)
  return (
    (await db.run(endStatement, [
      organizationId,
      runId,
      sequence,
      end.status,
      end.failureCode,
      end.now,
      runStatusesBefore(end.status),
      end.move,
      end.reason,
    ])) > 0
  )
}

const fenceValues = (fence: RunFence): readonly [string, string, number, number] => [
  fence.organizationId,
  fence.runId,
  fence.sequence,
  fence.wakeCount,
]

const policyStatement = sql(
  'commit-store.holdPolicy',
  `select policy
     from organizations
    where id = $1
      for share`,
)

/** The organization's policy, locked until this transaction ends. */
export const holdPolicy = async (
  tx: Transaction,
  organizationId: OrganizationId,
): Promise<CallingPolicyJson | undefined> =>
  (await tx.row<{ policy: CallingPolicyJson }>(policyStatement, [organizationId]))?.policy
