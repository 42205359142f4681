import { z } from 'zod'
import { dateTime } from './fields.ts'
import { automationRunStatuses } from './automation-runs.ts'
import { batchStatuses, callStatuses } from './states.ts'

/** Why accepted work is not dialled yet (D19), and what each reason means for an integrator. */
const explanationMeanings = {
  capacity: 'the organization’s or the trunk’s calls at once, or calls per second, are used up',
  calling_hours: 'outside the hours of the policy or of the batch’s window',
  attempts_per_day: 'the number was dialled as often as the policy allows on one day',
  number_in_use:
    'another call to this number is live; `details.call_id` names it where the API shows it',
  batch_paused: 'the batch is paused, or a draft that was not started',
  automation_paused: 'the Automation is paused',
  not_before:
    'its own time is still to come: a scheduled start, a wait, a delay before the next attempt',
  carrier_congestion: 'the carrier was congested',
  trunk_down: 'the trunk cannot be reached',
  no_trunk: 'there is no trunk for this call',
  no_caller_id: 'the organization has no number to call from',
  caller_ids_exhausted: 'all its numbers have been used as often as they may today',
  caller_ids_resting: 'all its numbers rest',
  no_engine: 'no voice engine is set up',
  media_overloaded: 'no node has room for another conversation',
  lookup_wait: 'the agent’s look-up asked to wait',
  node_draining: 'no node is dialling: they drain, or none is running',
  next: 'nothing but its turn',
} as const

type ExplanationCode = keyof typeof explanationMeanings

const explanationCodes = Object.keys(explanationMeanings) as [ExplanationCode, ...ExplanationCode[]]

/** One reason why the work waits. */
export const explanationReason = z
  .strictObject({
    code: z.enum(explanationCodes).meta({
      description: Object.entries(explanationMeanings)
        .map(([code, meaning]) => `\`${code}\`: ${meaning}.`)
        .join(' '),
    }),
    message: z.string().meta({ description: 'For people.' }),
    until: dateTime.optional().meta({ description: 'When it ends, where that is known.' }),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  })
  .meta({ id: 'ExplanationReason', description: 'One thing that the work waits for.' })

export type ExplanationReason = z.output<typeof explanationReason>

const decision = z
  .strictObject({
    at: dateTime,
    decision: z.string(),
    reason: z.string().optional(),
    until: dateTime.optional(),
    sip: z.array(z.string()).optional().meta({
      description:
        'The SIP messages of this attempt, `→` sent and `←` received; kept for 30 days, numbers masked.',
    }),
  })
  .meta({ id: 'ExplanationDecision', description: 'One thing that was decided about a call.' })

const explanationOf = <const Status extends readonly [string, ...string[]]>(statuses: Status) =>
  z.strictObject({
    object: z.literal('explanation'),
    status: z.enum(statuses),
    reasons: z.array(explanationReason).meta({
      description:
        'What it waits for, the first to be mended first. Empty once it waits for nothing.',
    }),
    attempts: z.array(decision).optional().meta({
      description: 'What was decided about the call so far, oldest first.',
    }),
  })

export const callExplanation = explanationOf(callStatuses).meta({
  id: 'CallExplanation',
  description: 'Why a call is not dialled yet.',
})

export const batchExplanation = explanationOf(batchStatuses).meta({
  id: 'BatchExplanation',
  description: 'Why the recipients of a batch are not dialled yet.',
})

export const automationRunExplanation = explanationOf(automationRunStatuses).meta({
  id: 'AutomationRunExplanation',
  description: 'Why a run does not go on yet.',
})

const outsideHours = {
  code: 'calling_hours',
  message: 'It is outside the calling hours in America/New_York.',
  until: '2026-07-16T12:00:00.000Z',
} as const

export const callExplanationExample = {
  object: 'explanation',
  status: 'queued',
  reasons: [outsideHours],
  attempts: [],
}

export const batchExplanationExample = {
  object: 'explanation',
  status: 'paused',
  reasons: [{ code: 'batch_paused', message: 'The batch is paused.' }],
}

export const automationRunExplanationExample = {
  object: 'explanation',
  status: 'waiting',
  reasons: [
    {
      code: 'not_before',
      message: 'It waits between two attempts.',
      until: '2026-07-16T12:30:00.000Z',
    },
  ],
}
