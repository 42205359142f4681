import { z } from 'zod'
import { contactInput, type ContactInput } from './contacts.ts'
import { uniqueItems } from './duplicates.ts'
import { count, dateTime, dateTimeInput, opaqueId, text } from './fields.ts'
import { ruleMessage } from './field-rules.ts'
import { listOf, listPaging } from './paging.ts'
import { blame, hasNotBoth, hasOneOf } from './rules.ts'
import { batchStatuses } from './states.ts'
import { isTimeZone } from './time-zone.ts'

/** Recipients of one batch (contract, "Limits"). */
export const maxBatchRecipients = 1000

/** `scheduled_start_at` lies at most this far ahead (D5). */
export const maxScheduleDays = 366

/** Day names in a calling window. */
export const weekdayNames = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const

const startTime = z
  .string()
  .regex(
    /^(?:[01]\d|2[0-3]):[0-5]\d$/,
    ruleMessage('invalid_format', 'must be a time from 00:00 to 23:59'),
  )
  .meta({ description: '`HH:MM`, 24 hours.', examples: ['09:00'] })

const endTime = z
  .string()
  .regex(
    /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/,
    ruleMessage('invalid_format', 'must be a time from 00:01 to 24:00'),
  )
  .meta({ description: 'Later than `start_time`; `24:00` is midnight.', examples: ['17:30'] })

/** Whether the window ends after it begins; members of a wrong type have their own error. */
const endsLater = (window: { start_time?: unknown; end_time?: unknown }): boolean => {
  const { start_time: start, end_time: end } = window
  if (!startTime.safeParse(start).success || !endTime.safeParse(end).success) return true
  return String(end) > String(start)
}

/** One contiguous daily window, half-open: includes `start_time`, excludes `end_time` (D5). */
export const callingWindow = z
  .strictObject({
    time_zone: z
      .string()
      .refine(isTimeZone, { error: ruleMessage('invalid_time_zone') })
      .meta({ description: 'IANA time zone.', examples: ['America/New_York'] }),
    weekdays: uniqueItems(z.array(z.enum(weekdayNames)).min(1).max(weekdayNames.length)),
    start_time: startTime,
    end_time: endTime,
  })
  .refine(endsLater, blame('end_time', 'invalid_range', 'must be later than start_time'))
  .meta({
    id: 'CallingWindow',
    description: 'Narrows the calling policy of your organization, never widens it.',
  })

export type CallingWindow = z.output<typeof callingWindow>

type Loose = { readonly [Member in keyof ContactInput]?: unknown } | null | undefined

const identityOf = (item: unknown): string | undefined => {
  const { source, external_id: externalId } = (item as Loose) ?? {}
  return typeof externalId === 'string' ? JSON.stringify([source, externalId]) : undefined
}

const phoneNumberOf = (item: unknown): unknown => (item as Loose)?.phone_number

const recipients = uniqueItems(
  z.array(contactInput).min(1).max(maxBatchRecipients),
  { keyOf: identityOf, path: 'external_id' },
  { keyOf: phoneNumberOf, path: 'phone_number' },
)

/** Body of POST /batches: an agent and exactly one form of recipients (D5). */
export const batchInput = z
  .strictObject({
    name: text(1, 200),
    agent_id: opaqueId,
    contact_ids: uniqueItems(z.array(opaqueId).min(1).max(maxBatchRecipients)).optional(),
    recipients: recipients.optional().meta({
      description: 'Upserted as by POST /contacts, together with the batch or not at all.',
    }),
    scheduled_start_at: dateTimeInput.optional().meta({
      description: `The earliest start, at most ${maxScheduleDays} days ahead. Past or absent: as soon as started.`,
    }),
    calling_window: callingWindow.optional(),
  })
  .refine(
    hasOneOf('contact_ids', 'recipients'),
    blame('contact_ids', 'required', 'is required where recipients is not given'),
  )
  .refine(
    hasNotBoth('contact_ids', 'recipients'),
    blame('recipients', 'mutually_exclusive', 'must not be given with contact_ids'),
  )
  .meta({
    id: 'BatchInput',
    description: 'Exactly one of `contact_ids` and `recipients`; nobody twice.',
    oneOf: [{ required: ['contact_ids'] }, { required: ['recipients'] }],
  })

export type BatchInput = z.output<typeof batchInput>

/** Unset members are omitted (D1). The first six counters sum to `total_recipients` at every instant (D5). */
export const batch = z
  .strictObject({
    id: opaqueId,
    status: z.enum(batchStatuses),
    name: text(1, 200),
    agent_id: opaqueId,
    total_recipients: count,
    pending_recipients: count.meta({ description: 'Not in the queue yet.' }),
    queued_recipients: count,
    in_progress_recipients: count.meta({ description: 'Dialling or talking.' }),
    completed_recipients: count,
    failed_recipients: count,
    cancelled_recipients: count,
    answered_recipients: count.meta({ description: 'Of the completed ones, as the next two.' }),
    no_answer_recipients: count,
    busy_recipients: count,
    created_at: dateTime,
    updated_at: dateTime,
    scheduled_start_at: dateTime.optional(),
    calling_window: callingWindow.optional(),
    started_at: dateTime.optional().meta({ description: 'When dispatch began.' }),
    paused_at: dateTime.optional(),
    completed_at: dateTime.optional().meta({ description: 'When the last recipient ended.' }),
    cancelled_at: dateTime.optional(),
  })
  .meta({ id: 'Batch', description: 'One dialling job over many contacts.' })

export type Batch = z.output<typeof batch>

export const batchPath = z.strictObject({ batch_id: opaqueId })

export const batchFilters = z.strictObject({
  ...listPaging,
  status: z.enum(batchStatuses).optional(),
})

export const batchList = listOf(batch).meta({ id: 'BatchList' })

export const batchInputExample = {
  name: 'Reminders for Friday',
  agent_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7c0a1',
  recipients: [
    { external_id: 'crm-1842', name: 'Ada Lovelace', phone_number: '+12025550100' },
    { external_id: 'crm-1906', name: 'Grace Hopper', phone_number: '+12025550101' },
  ],
  calling_window: {
    time_zone: 'America/New_York',
    weekdays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'],
    start_time: '09:00',
    end_time: '17:30',
  },
}

export const draftBatchExample = {
  id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7cb01',
  status: 'draft',
  name: batchInputExample.name,
  agent_id: batchInputExample.agent_id,
  total_recipients: 2,
  pending_recipients: 2,
  queued_recipients: 0,
  in_progress_recipients: 0,
  completed_recipients: 0,
  failed_recipients: 0,
  cancelled_recipients: 0,
  answered_recipients: 0,
  no_answer_recipients: 0,
  busy_recipients: 0,
  created_at: '2026-07-16T08:00:00.000Z',
  updated_at: '2026-07-16T08:00:00.000Z',
  calling_window: batchInputExample.calling_window,
}

export const queuedBatchExample = {
  ...draftBatchExample,
  status: 'queued',
  pending_recipients: 0,
  queued_recipients: 2,
  updated_at: '2026-07-16T08:00:05.000Z',
}

export const pausedBatchExample = {
  ...draftBatchExample,
  status: 'paused',
  pending_recipients: 0,
  queued_recipients: 1,
  in_progress_recipients: 1,
  updated_at: '2026-07-16T13:00:09.000Z',
  started_at: '2026-07-16T13:00:00.000Z',
  paused_at: '2026-07-16T13:00:09.000Z',
}

export const cancelledBatchExample = {
  ...draftBatchExample,
  status: 'cancelled',
  pending_recipients: 0,
  completed_recipients: 1,
  cancelled_recipients: 1,
  answered_recipients: 1,
  updated_at: '2026-07-16T13:02:00.000Z',
  started_at: '2026-07-16T13:00:00.000Z',
  cancelled_at: '2026-07-16T13:02:00.000Z',
}

export const completedBatchExample = {
  ...draftBatchExample,
  status: 'completed',
  pending_recipients: 0,
  completed_recipients: 2,
  answered_recipients: 1,
  busy_recipients: 1,
  updated_at: '2026-07-16T13:01:12.000Z',
  started_at: '2026-07-16T13:00:00.000Z',
  completed_at: '2026-07-16T13:01:12.000Z',
}
