import { z } from 'zod'
import { runFailureCodes } from '../../contract/automation-runs.ts'
import { uniqueItems } from '../../contract/duplicates.ts'
import { answerStatuses } from '../../contract/states.ts'
import { isStorableText, trimWhiteSpace } from '../../contract/text.ts'
import { durationProblem } from '../../calling-hours/local-time.ts'

/** Decision D6. */
const maxSteps = 100
const maxCases = 20
const maxDefinitionBytes = 64 * 1024
/** Attempts of one visit; the last delay repeats, so the list may be shorter. */
const maxAttempts = 100
const maxDelays = 100
const maxAllowedValues = 100

const storable = (schema: z.ZodString) =>
  schema.refine(isStorableText, 'It holds a NUL or half a surrogate pair.')

export const stepNameSentence =
  'A step’s name begins with a letter, then letters, digits, "_" or "-", at most 64 in all.'

const stepName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, stepNameSentence)

const duration = (rule: { mayBeZero?: boolean } = {}) =>
  z.string().check(({ value, issues }) => {
    const message = durationProblem(value, rule)
    if (message !== undefined)
      issues.push({ code: 'custom', message, input: value, continue: true })
  })

const localTime = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'It must be a time from 00:00 to 23:59.')

const allowed = <Value extends z.ZodType<string>>(value: Value) =>
  uniqueItems(z.array(value).min(1).max(maxAllowedValues), {
    keyOf: (item) => item,
    message: 'This value is named already.',
  })

const retry = z
  .strictObject({
    max_attempts: z.int().min(1).max(maxAttempts),
    delays: z.array(duration({ mayBeZero: true })).max(maxDelays),
    on: allowed(z.enum(answerStatuses)),
  })
  .refine(({ max_attempts: attempts, delays }) => attempts === 1 || delays.length > 0, {
    path: ['delays'],
    message: 'It must have at least 1 item where there is more than one attempt.',
  })

const callStep = z.strictObject({
  type: z.literal('call'),
  agent_id: z.string().min(1).max(255),
  next: stepName,
  retry: retry.optional(),
})

const waitStep = z
  .strictObject({
    type: z.literal('wait'),
    for: duration().optional(),
    until_local_time: localTime.optional(),
    next: stepName,
  })
  .refine((step) => step.for !== undefined || step.until_local_time !== undefined, {
    path: ['for'],
    message: 'A wait needs `for`, `until_local_time`, or both.',
  })

/** Fields of the contact that a branch may use; an unset one is "". */
export const branchableFields = [
  'name',
  'phone_number',
  'external_id',
  'source',
  'email',
  'company',
  'role',
  'city',
  'country',
] as const

export type BranchableField = (typeof branchableFields)[number]

const fieldValues = allowed(storable(z.string().max(500))).optional()

const when = z
  .strictObject({
    outcome: allowed(
      z
        .string()
        .regex(
          /^[a-z][a-z0-9_]{0,63}$/,
          'An outcome is written in small letters, such as "achieved".',
        ),
    ).optional(),
    answer_status: allowed(z.enum(answerStatuses)).optional(),
    'contact.name': fieldValues,
    'contact.phone_number': fieldValues,
    'contact.external_id': fieldValues,
    'contact.source': fieldValues,
    'contact.email': fieldValues,
    'contact.company': fieldValues,
    'contact.role': fieldValues,
    'contact.city': fieldValues,
    'contact.country': fieldValues,
  })
  .refine((conditions) => Object.keys(conditions).length > 0, {
    error: 'It must have at least 1 member.',
    // A misspelt member is reported as unknown, and not also as missing.
    when: ({ issues }) => issues.length === 0,
  })

const branchStep = z.strictObject({
  type: z.literal('branch'),
  cases: z
    .array(z.strictObject({ when, next: stepName }))
    .min(1)
    .max(maxCases),
  otherwise: stepName,
})

const endStep = z
  .strictObject({
    type: z.literal('end'),
    result: z.enum(['completed', 'failed']),
    failure_code: z.enum(runFailureCodes).optional(),
  })
  .refine((step) => step.result === 'failed' || step.failure_code === undefined, {
    path: ['failure_code'],
    message: 'Only a failed end has a failure code.',
  })

const step = z.discriminatedUnion('type', [callStep, waitStep, branchStep, endStep], {
  error: ({ input }) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return 'It must be an object.'
    return Object.hasOwn(input, 'type')
      ? 'It must be one of "call", "wait", "branch", "end".'
      : 'It is required.'
  },
})

const steps = z
  .record(stepName, step, {
    error: (issue) => (issue.code === 'invalid_key' ? stepNameSentence : undefined),
  })
  .refine((all) => Object.keys(all).length > 0, 'It must have at least 1 step.')
  .refine((all) => Object.keys(all).length <= maxSteps, `It must have at most ${maxSteps} steps.`)

/** The schema of decision D6. definition-problems.ts checks that the steps fit together. */
const definitionSchema = z.strictObject({ entry: stepName, steps })

/** Of the definition as compact JSON. */
export const isDefinitionTooLarge = (definition: unknown): boolean =>
  definition !== undefined && Buffer.byteLength(JSON.stringify(definition)) > maxDefinitionBytes

export const tooLarge = `It must be at most ${maxDefinitionBytes / 1024} KiB.`

const text = (maxLength: number) =>
  storable(z.string().overwrite(trimWhiteSpace).min(1).max(maxLength))

/** An administrator's file (operator surface). */
export const automationFileSchema = z.strictObject({
  name: text(200),
  description: text(1000).optional(),
  definition: definitionSchema,
})

export type AutomationDefinition = z.output<typeof definitionSchema>
export type AutomationFile = z.output<typeof automationFileSchema>
export type Step = AutomationDefinition['steps'][string]
export type CallStep = Extract<Step, { type: 'call' }>
export type WaitStep = Extract<Step, { type: 'wait' }>
export type BranchStep = Extract<Step, { type: 'branch' }>
export type When = BranchStep['cases'][number]['when']

/** A stored definition; undefined if this program cannot read it (the run fails `definition_invalid`). */
export const readDefinition = (stored: unknown): AutomationDefinition | undefined => {
  const read = definitionSchema.safeParse(stored)
  return read.success ? read.data : undefined
}
