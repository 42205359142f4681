import { z } from 'zod'
import { callStatuses } from '../states.ts'
import { call } from '../calls.ts'
import { explanationReason } from '../explanations.ts'
import { count, dateTime, opaqueId, phoneNumber, uuid } from '../fields.ts'
import { createdFilters, listOf, listPaging } from '../paging.ts'
import { listedRequest } from './api-requests.ts'
import { recording } from '../recordings.ts'
import { blame, isOpenWindow } from '../rules.ts'

/** Who is called and by which agent: members that the API does not show. */
const parties = {
  contact_name: z.string().optional(),
  phone_number: z.string().optional(),
  agent_name: z.string().optional(),
}

const listedCall = call.extend({
  ...parties,
  /** Why a queued call waits, where it has a reason of its own. */
  waits_for: z.string().optional(),
})
export const consoleCallList = listOf(listedCall)

/** Calls of any origin. */
export const consoleCallFilters = z.strictObject({
  ...listPaging,
  status: z.enum(callStatuses).optional(),
  contact_id: opaqueId.optional(),
  agent_id: opaqueId.optional(),
  batch_id: opaqueId.optional(),
})

const decision = z.strictObject({
  at: dateTime,
  decision: z.string(),
  reason: z.string().optional(),
  until: dateTime.optional(),
})

const milliseconds = z.number()

/** The SIP messages of a call's attempts, masked. Addresses and texts are for who runs the installation. */
export const callTrace = z.strictObject({
  attempts: z.array(
    z.strictObject({
      attempt: z.int(),
      messages: z.array(
        z.strictObject({
          at: dateTime,
          direction: z.enum(['sent', 'received']),
          protocol: z.enum(['udp', 'tcp', 'tls']),
          title: z.string(),
          local: z.string().optional(),
          remote: z.string().optional(),
          message: z.string().optional(),
        }),
      ),
      omitted: z.int(),
    }),
  ),
})

/** Everything that is known of one call. */
export const callDetail = call.extend({
  ...parties,
  /** The API request that made it, or its batch or run. */
  made_by: listedRequest.optional(),
  origin: z.enum(['api', 'manual', 'dashboard', 'cli']),
  /** Of a call that is held: whether the process that gives this answer carries it. */
  is_here: z.boolean().optional(),
  reasons: z.array(explanationReason),
  decisions: z.array(decision),
  results: z.array(
    z.strictObject({
      kind: z.string(),
      status: z.string(),
      reason: z.string().nullable(),
      revision: z.int(),
      attempts: z.int(),
      summary: z.string().nullable(),
    }),
  ),
  turns: z.array(
    z.strictObject({
      sequence: z.int(),
      speaker: z.string(),
      text: z.string(),
      audio_offset_ms: milliseconds,
    }),
  ),
  recording: z
    .union([
      z.strictObject({
        id: opaqueId,
        status: z.enum(['encoding', 'ready', 'failed', 'deleted']),
        recorded_at: dateTime,
        duration_seconds: count.optional(),
        size_bytes: count.optional(),
        frames_expected: count.optional(),
        frames_written: count.optional(),
      }),
      z.strictObject({ status: z.literal('unavailable'), reason: z.literal('not_enabled') }),
    ])
    .optional(),
  usage: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))),
  latencies: z.array(z.record(z.string(), z.number().nullable())),
  /** How well each direction of the audio was carried; null where nothing is known. */
  quality: z.array(
    z.strictObject({
      direction: z.enum(['from_callee', 'to_callee']),
      packets: count,
      packets_lost: count.nullable(),
      packets_late: count.nullable(),
      concealed: count.nullable(),
      jitter_ms: milliseconds.nullable(),
      delay_ms: milliseconds.nullable(),
      round_trip_ms: milliseconds.nullable(),
      mos: z.number().nullable(),
    }),
  ),
})

export const callRequest = z.strictObject({ agent_id: uuid, phone_number: phoneNumber })

/** The audio of a call, with the two lanes of its waveform. */
export const callRecording = recording.extend({
  peaks: z.looseObject({ agent: z.array(z.number()), contact: z.array(z.number()) }).optional(),
})

const listedRecording = recording
  .omit({ object: true, download_url: true, download_url_expires_at: true })
  .extend({ ...parties, call_id: opaqueId.nullable(), size_bytes: count.optional() })
export const consoleRecordingList = listOf(listedRecording)

/** Recordings of calls of any origin, by when they were recorded. */
export const consoleRecordingFilters = z
  .strictObject({ ...listPaging, contact_id: opaqueId.optional(), ...createdFilters })
  .refine(
    isOpenWindow,
    blame('created_before', 'invalid_range', 'must be later than created_after'),
  )

/** The day so far, in the organization's zone. */
export const overview = z.strictObject({
  time_zone: z.string(),
  calls_today: count,
  ended_today: count,
  answered_today: count,
  live_now: count,
  channels_allowed: count,
  queued_now: count,
  oldest_queued_at: dateTime.nullable(),
  reply_p50_ms: z.number().nullable(),
  reply_p95_ms: z.number().nullable(),
  by_hour: z.array(z.strictObject({ hour: z.int(), calls: count, answered: count })),
})

/** A file as operators write it; the domain checks it. */
export const file = z.record(z.string(), z.unknown())
