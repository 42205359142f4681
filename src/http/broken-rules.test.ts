import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchInput } from '../contract/batches.ts'
import { callFilters, callInput } from '../contract/calls.ts'
import { validationError } from '../contract/api-error.ts'
import { contactInput } from '../contract/contacts.ts'
import { problemsOf } from './steps/problems.ts'
import type { z } from 'zod'

const messageOf = (schema: z.ZodType, input: unknown): string =>
  validationError(problemsOf(schema.safeParse(input).error?.issues ?? [], input)).message

const contact = { external_id: 'a', name: 'Ada', phone_number: '+12025550100' }

test('a message carries the rule that was broken', () => {
  for (const [schema, input, message] of [
    [callFilters, { limit: '101' }, 'limit must be at most 100.'],
    [callFilters, { limit: '0' }, 'limit must be at least 1.'],
    [callFilters, { limit: 'ten' }, 'limit must be a whole number.'],
    [
      callFilters,
      { status: 'x' },
      'status must be one of queued, dialing, in_progress, completed, failed, cancelled.',
    ],
    [
      callFilters,
      { created_after: 'now' },
      'created_after must be an RFC 3339 date-time, for example 2026-07-16T08:00:00Z.',
    ],
    [
      contactInput,
      { ...contact, phone_number: '2025550100' },
      'phone_number must be E.164, for example +12025550100.',
    ],
    [contactInput, { ...contact, name: ' ' }, 'name must have at least 1 character.'],
    [contactInput, { ...contact, name: 7 }, 'name must be a string.'],
    [contactInput, { ...contact, tel: '' }, 'tel is not a known field.'],
    [contactInput, [], 'The body must be an object.'],
    [callInput, { agent_id: 'a' }, 'contact_id is required where recipient is not given.'],
    [
      batchInput,
      { name: 'B', agent_id: 'a', contact_ids: ['c', 'c'] },
      'contact_ids[1] repeats an earlier one.',
    ],
    [
      batchInput,
      { name: 'B', agent_id: 'a', contact_ids: [] },
      'contact_ids must have at least 1 item.',
    ],
    [
      batchInput,
      { agent_id: 'a', recipients: [{ ...contact, phone_number: '1' }] },
      'name is required; recipients[0].phone_number must be E.164, for example +12025550100.',
    ],
  ] as const) {
    assert.equal(messageOf(schema, input), message)
  }
})

test('a message tells five rules and counts the others; the fields have path and code only', () => {
  const unknown = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`x${index}`, 1]))
  const input = { ...contact, ...unknown }
  const error = validationError(
    problemsOf(contactInput.safeParse(input).error?.issues ?? [], input),
  )
  assert.match(
    error.message,
    /^x0 is not a known field; .*; x4 is not a known field; and 3 more\.$/,
  )
  assert.deepEqual(error.details?.fields?.[0], { path: 'x0', code: 'unknown_field' })
})
