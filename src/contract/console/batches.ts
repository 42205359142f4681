import { z } from 'zod'
import { batch, callingWindow, maxBatchRecipients } from '../batches.ts'
import { uniqueItems } from '../duplicates.ts'
import { explanationReason } from '../explanations.ts'
import { count, dateTime, opaqueId } from '../fields.ts'

export const batchDetail = z.strictObject({
  batch,
  reasons: z.array(explanationReason),
  agent_name: z.string().optional(),
  /** When the last recipient ends at the present pace; absent while that is unknown. */
  expected_end_at: dateTime.optional(),
})

export const batchRecipients = z.strictObject({
  data: z.array(
    z.strictObject({
      call_id: opaqueId,
      contact_id: opaqueId,
      external_id: z.string().optional(),
      name: z.string().optional(),
      phone_number: z.string().optional(),
      status: z.string(),
      answer_status: z.string().optional(),
      outcome: z.string().optional(),
      reason: z.string().optional(),
      duration_seconds: count.optional(),
      dialing_at: dateTime.optional(),
      ended_at: dateTime.optional(),
    }),
  ),
})

/** How calls end whose recipients may be called again. */
const retriedEnds = ['failed', 'no_answer', 'busy', 'voicemail'] as const
export type RetriedEnd = (typeof retriedEnds)[number]

export const retryInput = z.strictObject({
  ends: uniqueItems(z.array(z.enum(retriedEnds)).min(1).max(retriedEnds.length)),
})

/** The window of a batch that is not made yet. Without contacts the hours of the organization's own zone are told. */
export const windowPreviewInput = z.strictObject({
  contact_ids: uniqueItems(z.array(opaqueId).max(maxBatchRecipients)).default([]),
  /** A file that was checked, in the place of contacts. */
  import_id: opaqueId.optional(),
  calling_window: callingWindow.optional(),
})

export const windowPreview = z.strictObject({
  /** The organization's, for numbers without a place. */
  time_zone: z.string(),
  zones: z.array(
    z.strictObject({
      time_zones: z.array(z.string()),
      recipients: count,
      openings: z.array(z.strictObject({ start: dateTime, end: dateTime })),
    }),
  ),
})
