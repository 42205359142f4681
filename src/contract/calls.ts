import { z } from 'zod'
import { contactInput } from './contacts.ts'
import { count, dateTime, opaqueId, uuid } from './fields.ts'
import { createdFilters, listOf, listPaging } from './paging.ts'
import { blame, hasNotBoth, hasOneOf, isOpenWindow } from './rules.ts'
import { answerStatuses, callStatuses } from './states.ts'

/** Body of POST /calls: an agent and exactly one of a known contact or an inline recipient (D3). */
export const callInput = z
  .strictObject({
    agent_id: opaqueId,
    contact_id: opaqueId.optional(),
    recipient: contactInput.optional(),
  })
  .refine(
    hasOneOf('contact_id', 'recipient'),
    blame('contact_id', 'required', 'is required where recipient is not given'),
  )
  .refine(
    hasNotBoth('contact_id', 'recipient'),
    blame('recipient', 'mutually_exclusive', 'must not be given with contact_id'),
  )
  .meta({
    id: 'CallInput',
    description: 'Exactly one of `contact_id` and `recipient`.',
    oneOf: [{ required: ['contact_id'] }, { required: ['recipient'] }],
  })

/** Unset members are omitted (D1). */
export const call = z
  .strictObject({
    id: uuid,
    status: z.enum(callStatuses),
    answer_status: z.enum(answerStatuses).optional(),
    contact_id: opaqueId,
    agent_id: opaqueId,
    queued_at: dateTime.meta({ description: 'When the call entered the durable queue.' }),
    created_at: dateTime,
    updated_at: dateTime,
    batch_id: opaqueId.optional(),
    automation_run_id: opaqueId.optional(),
    outcome: z.string().optional().meta({ description: 'Normalized or configured outcome.' }),
    outcome_reason: z.string().max(500).optional(),
    summary: z.string().optional(),
    duration_seconds: count.optional(),
    dialing_at: dateTime.optional(),
    connected_at: dateTime.optional(),
    ended_at: dateTime.optional(),
    cancel_requested_at: dateTime.optional(),
    cancelled_at: dateTime
      .optional()
      .meta({ description: 'When cancellation won the race to the terminal state.' }),
  })
  .meta({ id: 'Call', description: 'One AI phone call. Unset members are omitted.' })

export type Call = z.output<typeof call>

export const callPath = z.strictObject({ call_id: uuid })

export const callFilters = z
  .strictObject({
    ...listPaging,
    status: z.enum(callStatuses).optional(),
    contact_id: opaqueId.optional(),
    agent_id: opaqueId.optional(),
    batch_id: opaqueId.optional(),
    automation_run_id: opaqueId.optional(),
    ...createdFilters,
  })
  .refine(
    isOpenWindow,
    blame('created_before', 'invalid_range', 'must be later than created_after'),
  )

export const callList = listOf(call).meta({ id: 'CallList' })

export const callInputExample = {
  agent_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7c0a1',
  contact_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7c001',
}

export const queuedCallExample = {
  id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7ca11',
  status: 'queued',
  ...callInputExample,
  queued_at: '2026-07-16T08:00:00.000Z',
  created_at: '2026-07-16T08:00:00.000Z',
  updated_at: '2026-07-16T08:00:00.000Z',
}

export const completedCallExample = {
  ...queuedCallExample,
  status: 'completed',
  answer_status: 'answered',
  updated_at: '2026-07-16T08:01:12.000Z',
  outcome: 'achieved',
  outcome_reason: 'The contact confirmed the appointment.',
  summary: 'The agent reminded the contact of the appointment, and the contact confirmed it.',
  duration_seconds: 61,
  dialing_at: '2026-07-16T08:00:00.010Z',
  connected_at: '2026-07-16T08:00:04.000Z',
  ended_at: '2026-07-16T08:01:05.000Z',
}

export const cancelledCallExample = {
  ...queuedCallExample,
  status: 'cancelled',
  answer_status: 'unknown',
  updated_at: '2026-07-16T08:00:03.000Z',
  ended_at: '2026-07-16T08:00:03.000Z',
  cancel_requested_at: '2026-07-16T08:00:03.000Z',
  cancelled_at: '2026-07-16T08:00:03.000Z',
}
