import { fieldCodes, type FieldCode } from './errors.ts'

/** The message for a field whose schema has no more specific one: `<path> <rule>`. */
export const fieldRules: Readonly<Record<FieldCode, string>> = {
  required: 'is required',
  unknown_field: 'is not a known field',
  invalid_type: 'has the wrong type',
  too_short: 'is too short',
  too_long: 'is too long',
  too_small: 'is too small',
  too_large: 'is too large',
  too_few_items: 'has too few items',
  too_many_items: 'has too many items',
  duplicate_item: 'repeats an earlier one',
  invalid_format: 'has the wrong format',
  invalid_enum: 'is not one of the allowed values',
  invalid_e164: 'must be E.164, for example +12025550100',
  invalid_date_time: 'must be an RFC 3339 date-time, for example 2026-07-16T08:00:00Z',
  invalid_time_zone: 'must be an IANA time zone, for example America/New_York',
  invalid_range: 'must be later than the beginning of the range',
  invalid_cursor: 'must be a next_cursor of this list with the same filters',
  mutually_exclusive: 'must not be given together with its other form',
  not_found: 'names nothing in your organization',
  no_overlap_with_policy: 'never overlaps with the calling hours of your organization',
  requires_include: 'needs include=download_url',
  unsupported_destination: 'cannot be called',
}

const separator = ': '

/** A schema's message: the public code, and the rule in words. */
export const ruleMessage = (code: FieldCode, rule: string = fieldRules[code]): string =>
  `${code}${separator}${rule}`

/** Parses such a message, or a bare code; `undefined` for any other text. */
export const readRuleMessage = (
  message: string,
): { readonly code: FieldCode; readonly rule: string } | undefined => {
  const end = message.indexOf(separator)
  const name = end < 0 ? message : message.slice(0, end)
  const code = fieldCodes.find((each) => each === name)
  if (code === undefined) return undefined
  return { code, rule: end < 0 ? fieldRules[code] : message.slice(end + separator.length) }
}
