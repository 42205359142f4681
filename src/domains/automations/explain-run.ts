import type { AutomationRunStatus } from '../../contract/automation-runs.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { ExplanationReason } from '../../contract/explanations.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'
import { explainCall, type CallExplanation, type Reader } from '../calls/explain-call.ts'
import { isTerminal } from '../calls/lifecycle/call-states.ts'

/** Why a run does not go on. */
interface RunExplanation {
  readonly status: AutomationRunStatus
  /** Empty if it waits for nothing: it goes on, its call is live, or it has ended. */
  readonly reasons: readonly ExplanationReason[]
  /** The queued or live call that the run waits for. */
  readonly call?: CallExplanation
}

type WaitReason = 'wait_step' | 'retry_delay' | 'calling_hours' | 'paused'

interface RunRow {
  readonly status: AutomationRunStatus
  readonly phase: 'enter' | 'call' | 'wait' | 'retry'
  readonly wait_reason: WaitReason | null
  readonly due_at: Date | null
  readonly wake_at: Date | null
  readonly call_id: string | null
  readonly is_automation_paused: boolean
}

const loadStatement = sql(
  'explain-run.loadRun',
  `select r.status, r.phase, r.wait_reason, r.due_at, r.wake_at, r.call_id,
          a.status = 'paused' as is_automation_paused
     from automation_runs r
     join automations a on a.organization_id = r.organization_id and a.id = r.automation_id
    where r.organization_id = $1
      and r.id = $2`,
)

/** Undefined: the organization has no such run. */
export const explainRun = async (
  db: Queryable,
  organizationId: OrganizationId,
  runId: string,
  reader: Reader = 'operator',
): Promise<RunExplanation | undefined> => {
  if (!isUuid(runId)) return undefined
  const row = await db.row<RunRow>(loadStatement, [organizationId, runId])
  if (!row) return undefined
  const { status } = row
  if (status === 'completed' || status === 'failed' || status === 'cancelled')
    return { status, reasons: [] }
  const call =
    row.phase === 'call' && row.call_id !== null
      ? await explainCall(db, organizationId, row.call_id, reader)
      : undefined
  if (call && !isTerminal(call.status)) return { status, reasons: call.reasons, call }
  return { status, reasons: reasonsOf(row) }
}

const reasonsOf = (row: RunRow): readonly ExplanationReason[] => {
  if (row.wait_reason === 'paused' || row.is_automation_paused)
    return [{ code: 'automation_paused', message: 'The Automation is paused.' }]
  if (row.wait_reason !== null) return [waitOf(row.wait_reason, row.due_at ?? row.wake_at)]
  return row.status === 'queued' ? [{ code: 'next', message: 'It is about to begin.' }] : []
}

const waits = {
  wait_step: { code: 'not_before', message: 'Its step tells it to wait.' },
  retry_delay: { code: 'not_before', message: 'It waits between two attempts.' },
  calling_hours: { code: 'calling_hours', message: 'It is outside the calling hours.' },
} as const satisfies Record<Exclude<WaitReason, 'paused'>, ExplanationReason>

const waitOf = (reason: Exclude<WaitReason, 'paused'>, until: Date | null): ExplanationReason => ({
  ...waits[reason],
  ...(until && { until: formatDateTime(until) }),
})
