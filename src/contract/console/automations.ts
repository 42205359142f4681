import { z } from 'zod'
import { automationRun, automationRunStatuses, runFailureCodes } from '../automation-runs.ts'
import { automation } from '../automations.ts'
import { explanationReason } from '../explanations.ts'
import { count, dateTime, dateTimeInput, integerParameter, phoneNumber, text } from '../fields.ts'
import { opaqueId } from '../fields.ts'
import { listOf } from '../paging.ts'
import { answerStatuses, callStatuses } from '../states.ts'
import { file } from './work.ts'

const versionNumber = z.int().min(1)
const versionParameter = integerParameter(1, 2 ** 31 - 1)
const stepName = z.string()

export const shownAutomation = automation.extend({
  /** The version that is shown, and the one that new runs get. */
  version: versionNumber,
  published_version: versionNumber,
  definition: file,
})

/** By default the published version. */
export const versionChoice = z.strictObject({ version: versionParameter.optional() })

/** A draft takes no runs before it is made active. */
export const newAutomationOptions = z.strictObject({
  status: z.enum(['draft', 'active']).optional(),
})

/** The version that was changed into the new one. */
export const publishOptions = z.strictObject({ base_version: versionParameter.optional() })

export const automationVersions = z.strictObject({
  data: z.array(z.strictObject({ version: versionNumber, created_at: dateTime })),
})

/** Problems that are told. */
const maxProblems = 100

export const automationCheck = z.strictObject({
  problems: z.array(z.strictObject({ path: z.string(), message: z.string() })).max(maxProblems),
  /** Whether problems were left out. */
  truncated: z.boolean(),
})

/** Calls whose ends are named; the last one repeats. */
const maxAnswers = 50

export const simulationInput = z.strictObject({
  definition: file,
  contact_id: opaqueId.optional(),
  /** Read where no contact is given. */
  phone_number: phoneNumber.optional(),
  answers: z.array(text(1, 100)).min(1).max(maxAnswers),
  starts_at: dateTimeInput.optional(),
})

export const simulatedRun = z.strictObject({
  status: z.enum(['completed', 'failed']),
  failure_code: z.enum(runFailureCodes).optional(),
  ended_at: dateTime,
  calls: count,
  time_zones: z.array(z.string()),
  entries: z.array(
    z.strictObject({
      at: dateTime,
      local_time: z.string(),
      step: stepName.nullable(),
      move: z.string(),
      to: stepName.optional(),
      attempt: count.optional(),
      call: z
        .strictObject({
          dialled_at: dateTime,
          status: z.enum(callStatuses),
          answer_status: z.enum(answerStatuses),
          outcome: z.string().optional(),
        })
        .optional(),
      until: dateTime.optional(),
      until_local_time: z.string().optional(),
      reason: z.string(),
    }),
  ),
})

/** Active runs by the step where they stand; null: they have not begun. */
export const runsAtSteps = z.strictObject({
  data: z.array(
    z.strictObject({
      step: stepName.nullable(),
      status: z.enum(automationRunStatuses),
      runs: count,
    }),
  ),
})

export const consoleRunList = listOf(
  automationRun.extend({
    automation_name: z.string().optional(),
    /** Omitted if the contact was erased. */
    contact_name: z.string().optional(),
    step: stepName.optional(),
    due_at: dateTime.optional(),
  }),
)

/** Everything that is known of one run. */
export const runDetail = automationRun.extend({
  origin: z.string(),
  automation_name: z.string(),
  automation_version: versionNumber,
  definition: file,
  contact_name: z.string().optional(),
  phone_number: z.string().optional(),
  /** Omitted until the run begins. */
  step: stepName.optional(),
  attempt: count,
  steps_executed: count,
  cancel_requested_at: dateTime.optional(),
  /** Its queued or live call. */
  call: z.strictObject({ id: opaqueId, status: z.enum(callStatuses) }).optional(),
  next: z
    .strictObject({ message: z.string(), at: dateTime.optional(), steps: z.array(stepName) })
    .optional(),
  reasons: z.array(explanationReason),
  /** Newest first. */
  moves: z.array(
    z.strictObject({
      sequence: count,
      at: dateTime,
      step: stepName.optional(),
      move: z.string(),
      attempt: count.optional(),
      call_id: opaqueId.optional(),
      until: dateTime.optional(),
      reason: z.string(),
    }),
  ),
  /** Whether older moves were left out. */
  moves_truncated: z.boolean(),
})
