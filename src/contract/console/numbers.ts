import { z } from 'zod'
import { op } from '../define-operation.ts'
import { count, dateTime, dateTimeInput, phoneNumber, text } from '../fields.ts'
import { changes, reads } from './least-role.ts'

/** What callees of the organization see (D16). */
const number = z.strictObject({
  phone_number: z.string(),
  country: z.string().nullable(),
  /** Null: any. */
  trunk: z.string().nullable(),
  calls_per_day: z.int().nullable(),
  rest_when_flagged: z.boolean(),
  state: z.enum(['active', 'exhausted', 'resting', 'unusable']),
  reason: z.string().nullable(),
  /** Null: until it is resumed. */
  rests_until: dateTime.nullable(),
  calls_today: count,
  /** Why it looks spoiled. */
  flag_reason: z.string().nullable(),
  flagged_at: dateTime.nullable(),
  created_at: dateTime,
  updated_at: dateTime,
})

const named = { phone_number: phoneNumber }
/** The domain checks them. */
const settings = {
  trunk: z.string().max(63).nullable().optional(),
  calls_per_day: z.int().nullable().optional(),
  rest_when_flagged: z.boolean().optional(),
}
const refusals = { errors: ['resource_state_conflict'] } as const

/** A number stands in the body, because paths are logged. */
export const numberOperations = {
  listNumbers: op('GET /console/numbers', {
    ...reads('operator'),
    response: z.strictObject({ data: z.array(number) }),
  }),
  addNumber: op('POST /console/numbers', {
    ...changes('admin'),
    body: z.strictObject({ ...named, ...settings }),
    response: number,
    statuses: [201],
    ...refusals,
  }),
  changeNumber: op('PATCH /console/numbers', {
    ...changes('admin'),
    body: z.strictObject({ ...named, ...settings }),
    response: number,
    ...refusals,
  }),
  restNumber: op('POST /console/numbers/rest', {
    ...changes('admin'),
    body: z.strictObject({
      ...named,
      /** Without it until it is resumed. */
      until: dateTimeInput.optional(),
      reason: text(1, 300).optional(),
    }),
    response: number,
    ...refusals,
  }),
  resumeNumber: op('POST /console/numbers/resume', {
    ...changes('admin'),
    body: z.strictObject(named),
    response: number,
    ...refusals,
  }),
  removeNumber: op('POST /console/numbers/remove', {
    ...changes('admin'),
    body: z.strictObject(named),
    response: number,
    ...refusals,
  }),
} as const
