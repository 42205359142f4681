import { z } from 'zod'
import { count, dateTime, opaqueId } from '../fields.ts'

/** Rings in each hour that has any, in order. */
const hours = z.array(z.strictObject({ hour: dateTime, rings: count }))

export type ForecastHours = z.output<typeof hours>

const span = {
  /** Absent if nobody rings within 400 days. */
  first_ring_at: dateTime.optional(),
  last_ring_at: dateTime.optional(),
  /** When the last call ends if it is as long as the average. */
  ends_at: dateTime.optional(),
  will_ring: count,
  expected_answers: count,
  hours,
} as const

/** What was expected of a batch when it began. */
export const keptForecast = z.strictObject({ made_at: dateTime, ...span })

export type KeptForecast = z.output<typeof keptForecast>

/** When the recipients who were not called yet would ring, were the batch started or resumed now. */
export const batchForecast = z.strictObject({
  batch_id: opaqueId,
  made_at: dateTime,
  starts_at: dateTime,
  ...span,
  /** Recipients who were not called yet. */
  waiting: count,
  /** What the length of calls and the share of answers were taken from. */
  basis: z.strictObject({
    source: z.enum(['agent', 'organization', 'default']),
    calls: count,
    /** How long a call holds its line, ringing included. */
    line_seconds: count,
    answer_rate: z.number(),
  }),
  /** Calls at one time. */
  lines: count,
  calls_per_second: z.number(),
  /** Other calls of the organization that wait, and were counted. */
  other_calls: count,
  /** What had to be assumed, a sentence each. */
  notes: z.array(z.string()),
  recipients: z.array(
    z.strictObject({
      call_id: opaqueId,
      rings_at: dateTime.optional(),
      /** Why it never rings, in the place of an instant. */
      never: z.string().optional(),
    }),
  ),
  at_start: keptForecast.optional(),
  /** What came so far. */
  fact: z.strictObject({
    rung: count,
    first_ring_at: dateTime.optional(),
    last_ring_at: dateTime.optional(),
    last_end_at: dateTime.optional(),
    hours,
  }),
})

export type BatchForecast = z.output<typeof batchForecast>
