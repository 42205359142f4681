import { z } from 'zod'
import { parseDateTime } from './date-time.ts'
import type { FieldCode } from './errors.ts'
import { ruleMessage } from './field-rules.ts'
import { trimWhiteSpace } from './text.ts'

/**
 * An issue's message contains its public field code and the rule; without a message, both follow from Zod's issue.
 */
const code = (fieldCode: FieldCode, rule?: string): { error: string } => ({
  error: ruleMessage(fieldCode, rule),
})

/** Text whose code points are counted after trimming Unicode white space (D1). */
export const text = (minLength: number, maxLength: number) =>
  z.string().overwrite(trimWhiteSpace).min(minLength).max(maxLength)

/** An identifier chosen by the client: 1 to 255 characters. */
export const opaqueId = text(1, 255)

const uuidPattern = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/

/** A UUID in either case; handlers get it in lower case. */
export const uuid = z
  .string()
  .regex(uuidPattern, code('invalid_format', 'must be a UUID'))
  .overwrite((value) => value.toLowerCase())
  .meta({ format: 'uuid' })

/** Strict E.164: `+`, a first digit 1 to 9, then 7 to 14 digits. */
export const phoneNumber = z
  .string()
  .regex(/^\+[1-9][0-9]{7,14}$/, code('invalid_e164'))
  .meta({ description: 'Strict E.164.', examples: ['+12025550100'] })

/** Namespace of a contact's identity. */
export const sourceName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,63}$/,
    code(
      'invalid_format',
      'must begin with a lower-case letter, then lower-case letters, digits, "_" or "-", at most 64 in all',
    ),
  )
  .meta({ description: 'Identity namespace.', examples: ['public_api'] })

const instant = (string: z.ZodString) =>
  string
    .refine((value) => parseDateTime(value) !== undefined, code('invalid_date_time'))
    .overwrite((value) => parseDateTime(value) ?? value)
    .meta({ format: 'date-time', examples: ['2026-07-16T08:00:00Z'] })

/** RFC 3339 with any offset; handlers get UTC text with microseconds. */
export const dateTimeInput = instant(z.string())

/** The same in a query string, where an unescaped plus of an offset has become a blank. */
export const dateTimeParameter = instant(
  z.string().overwrite((value) => value.replace(/ (?=\d\d:\d\d$)/, '+')),
)

/** A date-time in a response: UTC with milliseconds and `Z` (D1). */
export const dateTime = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ format: 'date-time', examples: ['2026-07-16T08:00:00.000Z'] })

/** A counter or a length. */
export const count = z.int().min(0)

/** A whole number in a query string: digits only, within bounds, never clamped (D1). */
export const integerParameter = (min: number, max: number) =>
  z.codec(
    z.string().regex(/^-?(?:0|[1-9][0-9]*)$/, code('invalid_type', 'must be a whole number')),
    z.int().min(min).max(max),
    {
      decode: (digits) => boundedNumber(digits),
      encode: (value) => String(value),
    },
  )

// Digits beyond 2^53 are still "too large" or "too small", not "no integer".
const boundedNumber = (digits: string): number =>
  Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(digits)))
