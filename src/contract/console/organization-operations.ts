import { z } from 'zod'
import { buckets } from '../buckets.ts'
import { callBackResults } from '../calls-back.ts'
import { op } from '../define-operation.ts'
import { count, dateTime, opaqueId, phoneNumber } from '../fields.ts'
import { changes, reads } from './least-role.ts'

/** A policy in the format of its file; the domain checks it. */
const policyFile = z.record(z.string(), z.unknown())

/** What a policy would do to the calls that are queued now. */
const policyPreview = z.strictObject({
  queued: count,
  /** Calls whose hours are open now, by the policy as it is and as it would be. */
  open_before: count,
  open_after: count,
  /** Calls that may ring now and would wait, and the other way about. */
  would_wait: count,
  would_ring: count,
  /** Calls whose first opening would be later than it is, such as past a holiday; `would_wait` is among them. */
  would_ring_later: count,
  /** Calls without any opening within the next nine days. */
  without_opening: count,
  /** Recipients of batches that are scheduled, and those of them whose first opening would be later. */
  scheduled: count,
  scheduled_later: count,
})

const rates = z.strictObject(
  Object.fromEntries(buckets.map((bucket) => [bucket, z.int().optional()])) as Record<
    (typeof buckets)[number],
    z.ZodOptional<z.ZodInt>
  >,
)

const organizationSettings = z.strictObject({
  id: opaqueId,
  name: z.string(),
  mode: z.enum(['sandbox', 'live']).nullable(),
  default_version: z.string(),
  public_api_enabled: z.boolean(),
  concurrency: z.int(),
  /** Null: everything is kept. */
  retention_days: z.int().nullable(),
  /** `never` wins over the agents. */
  recording: z.enum(['always', 'never']),
  /** What callers of its numbers get; null: what the installation says. */
  calls_back: z.string().nullable(),
  /** Requests a minute that count, with the defaults. */
  rates,
  created_at: dateTime,
  updated_at: dateTime,
})

const organizationChange = z.strictObject({
  public_api_enabled: z.boolean().optional(),
  concurrency: z.int().optional(),
  retention_days: z.int().nullable().optional(),
  recording: z.enum(['always', 'never']).optional(),
  calls_back: z.string().max(2_000).nullable().optional(),
  rates: rates.optional(),
})

const entry = z.strictObject({
  phone_number: z.string(),
  origin: z.enum(['opt_out', 'operator']),
  created_at: dateTime,
})
const numberInput = z.strictObject({ phone_number: phoneNumber })

const callBack = z.strictObject({
  id: opaqueId,
  at: dateTime,
  trunk: z.string(),
  /** Null: withheld, or erased. */
  phone_number: z.string().nullable(),
  called_number: z.string(),
  result: z.enum(callBackResults),
  /** Null: it is not over, or its node died. */
  sip_status: z.int().nullable(),
  seconds: count.nullable(),
  reason: z.string().nullable(),
})

/** Numbers of one request; a longer file comes in several. */
const maxImported = 5_000

/** Calling policy, do-not-call list and settings of the organization. */
export const organizationOperations = {
  getPolicy: op('GET /console/policy', { ...reads('viewer'), response: policyFile }),
  changePolicy: op('PATCH /console/policy', {
    ...changes('admin'),
    body: policyFile,
    response: policyFile,
  }),
  previewPolicy: op('POST /console/policy/preview', {
    ...changes('admin'),
    body: policyFile,
    response: policyPreview,
  }),
  listDoNotCall: op('GET /console/do-not-call', {
    ...reads('operator'),
    query: z.strictObject({
      /** Beginning of the numbers, after the plus. */
      digits: z
        .string()
        .regex(/^\+?[0-9]{1,15}$/)
        .optional(),
      after: phoneNumber.optional(),
    }),
    response: z.strictObject({ data: z.array(entry), next_after: z.string().nullable() }),
  }),
  addDoNotCall: op('POST /console/do-not-call', {
    ...changes('operator'),
    body: numberInput,
    response: numberInput,
    statuses: [201],
  }),
  removeDoNotCall: op('POST /console/do-not-call/remove', {
    ...changes('operator'),
    body: numberInput,
    response: numberInput,
    errors: ['resource_not_found'],
  }),
  importDoNotCall: op('POST /console/do-not-call/import', {
    ...changes('operator'),
    body: z.strictObject({ phone_numbers: z.array(z.string().max(100)).min(1).max(maxImported) }),
    response: z.strictObject({
      added: count,
      known: count,
      /** Places in the request of what is no number in E.164. */
      invalid: z.array(z.int()),
    }),
  }),
  /** The newest. */
  listCallsBack: op('GET /console/calls-back', {
    ...reads('viewer'),
    response: z.strictObject({ data: z.array(callBack) }),
  }),
  getOrganization: op('GET /console/organization', {
    ...reads('viewer'),
    response: organizationSettings,
  }),
  changeOrganization: op('PATCH /console/organization', {
    ...changes('admin'),
    body: organizationChange,
    response: organizationSettings,
  }),
} as const
