import { z } from 'zod'
import { dateTime, opaqueId } from './fields.ts'
import { ruleMessage } from './field-rules.ts'
import { createdFilters, listOf, listPaging } from './paging.ts'
import { blame, isOpenWindow } from './rules.ts'

export const automationRunStatuses = [
  'queued',
  'running',
  'waiting',
  'completed',
  'failed',
  'cancelled',
] as const

export type AutomationRunStatus = (typeof automationRunStatuses)[number]

/** Why a run failed (D6). Only the definition's `end` steps give `retries_exhausted` and `call_failed`. */
export const runFailureCodes = [
  'retries_exhausted',
  'call_failed',
  'recipient_blocked',
  'contact_unavailable',
  'agent_unavailable',
  'automation_unavailable',
  'definition_invalid',
  'step_limit_exceeded',
  'run_expired',
  'internal_error',
] as const

export type RunFailureCode = (typeof runFailureCodes)[number]

/** Serialized size of `input` (contract, "Limits"). */
const maxInputBytes = 32 * 1024
/** Nesting of `input`; the object itself is level 1. */
const maxInputDepth = 10

const isWithinLimits = (input: unknown): boolean =>
  new TextEncoder().encode(JSON.stringify(input)).length <= maxInputBytes &&
  depthOf(input) <= maxInputDepth

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 +
      Object.values(value).reduce<number>((deepest, each) => Math.max(deepest, depthOf(each)), 0)
    : 0

/** No Automation declares input names today, so every member is unknown (D6). */
const noInput = z.strictObject({}).meta({ description: 'An object without members.' })

// Reports both limits and members: a pipe would stop at the first.
const runInput = z
  .unknown()
  .check(({ value, issues }) => {
    if (isWithinLimits(value)) return
    issues.push({
      code: 'custom',
      message: ruleMessage(
        'too_large',
        `must be at most ${maxInputBytes / 1024} KiB, nested at most ${maxInputDepth} deep`,
      ),
      input: value,
    })
    const keys = noInput.safeParse(value).error?.issues ?? []
    for (const issue of keys)
      if (issue.code === 'unrecognized_keys') issues.push({ ...issue, input: {} })
  })
  .pipe(noInput)
  .default({})
  .meta({
    description:
      'No Automation declares input names yet, so it is empty. At most 32 KiB, nested at most 10 deep.',
    type: 'object',
    additionalProperties: false,
  })

export const automationRunInput = z
  .strictObject({ automation_id: opaqueId, contact_id: opaqueId, input: runInput })
  .meta({ id: 'AutomationRunInput' })

/** Unset members are omitted (D1). `completed_at` is the end of a run that completed or failed by itself. */
export const automationRun = z
  .strictObject({
    id: opaqueId,
    status: z.enum(automationRunStatuses),
    automation_id: opaqueId,
    contact_id: opaqueId,
    input: noInput,
    queued_at: dateTime.meta({ description: 'When the run entered the durable queue.' }),
    created_at: dateTime,
    updated_at: dateTime,
    failure_code: z.enum(runFailureCodes).optional(),
    started_at: dateTime.optional(),
    completed_at: dateTime
      .optional()
      .meta({ description: 'When the run became `completed` or `failed`.' }),
    cancelled_at: dateTime.optional(),
  })
  .meta({
    id: 'AutomationRun',
    description: 'One contact on its way through one Automation. Unset members are omitted.',
  })

export type AutomationRun = z.output<typeof automationRun>

export const automationRunPath = z.strictObject({ run_id: opaqueId })

export const automationRunFilters = z
  .strictObject({
    ...listPaging,
    status: z.enum(automationRunStatuses).optional(),
    automation_id: opaqueId.optional(),
    contact_id: opaqueId.optional(),
    ...createdFilters,
  })
  .refine(
    isOpenWindow,
    blame('created_before', 'invalid_range', 'must be later than created_after'),
  )

export const automationRunList = listOf(automationRun).meta({ id: 'AutomationRunList' })

export const automationRunInputExample = {
  automation_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7aa01',
  contact_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7c001',
}

export const queuedRunExample = {
  id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7ab11',
  status: 'queued',
  ...automationRunInputExample,
  input: {},
  queued_at: '2026-07-16T08:00:00.000Z',
  created_at: '2026-07-16T08:00:00.000Z',
  updated_at: '2026-07-16T08:00:00.000Z',
}

export const completedRunExample = {
  ...queuedRunExample,
  status: 'completed',
  updated_at: '2026-07-17T10:02:41.000Z',
  started_at: '2026-07-16T08:00:00.020Z',
  completed_at: '2026-07-17T10:02:41.000Z',
}

export const cancelledRunExample = {
  ...queuedRunExample,
  status: 'cancelled',
  updated_at: '2026-07-16T09:12:00.000Z',
  started_at: '2026-07-16T08:00:00.020Z',
  cancelled_at: '2026-07-16T09:12:00.000Z',
}
