import { z } from 'zod'
import { count, dateTime, opaqueId, uuid } from './fields.ts'
import { cursor, transcriptPaging } from './paging.ts'
import { resultReasons, speakers } from './states.ts'
import { resultSchemaVersion } from './versions.ts'

const pollAfterSeconds = z.int().min(1)

const head = <const Kind extends string>(object: Kind) => ({
  object: z.literal(object),
  schema_version: z.literal(resultSchemaVersion),
  call_id: opaqueId,
  revision: count.meta({
    description: 'Rises only when the sanitized content changes; 0 before there is any.',
  }),
})

// Each variant differs from the others by `status` (D7).
const variants = <
  const Kind extends string,
  Content extends z.ZodRawShape,
  Absent extends z.ZodRawShape,
>(
  object: Kind,
  content: Content,
  absent: Absent,
) =>
  z.discriminatedUnion('status', [
    z.strictObject({
      ...head(object),
      status: z.literal('processing'),
      ...absent,
      reason: z.enum(resultReasons.processing),
      generated_at: z.null(),
      poll_after_seconds: pollAfterSeconds,
    }),
    z.strictObject({
      ...head(object),
      status: z.literal('ready'),
      ...content,
      reason: z.null(),
      generated_at: dateTime,
    }),
    z.strictObject({
      ...head(object),
      status: z.literal('unavailable'),
      ...absent,
      reason: z.enum(resultReasons.unavailable),
      generated_at: z.null(),
    }),
    z.strictObject({
      ...head(object),
      status: z.literal('exhausted'),
      ...absent,
      reason: z.enum(resultReasons.exhausted),
      generated_at: z.null(),
    }),
  ])

export const transcriptTurn = z
  .strictObject({
    id: uuid,
    sequence: z.int(),
    speaker: z.enum(speakers),
    text: z.string(),
    audio_offset_ms: count,
  })
  .meta({ id: 'TranscriptTurn', description: 'One turn of a conversation, sanitized.' })

export type TranscriptTurn = z.output<typeof transcriptTurn>

export const callSummary = variants(
  'call_summary',
  { summary: z.string() },
  { summary: z.null() },
).meta({ id: 'CallSummary', description: 'Always 200; `status` tells how far the summary is.' })

export type CallSummary = z.output<typeof callSummary>

const nextCursor = cursor.nullable().meta({ description: 'null on the last page.' })

export const callTranscript = variants(
  'call_transcript',
  { turns: z.array(transcriptTurn), next_cursor: nextCursor },
  { turns: z.null(), next_cursor: z.null() },
).meta({
  id: 'CallTranscript',
  description: 'A cursor pins one revision; a newer one shows when paging restarts without it.',
})

export const transcriptQuery = z.strictObject(transcriptPaging)

/** A transcript page also ends once its turns contain this much text in UTF-8 (D7). */
export const transcriptPageBytes = 256 * 1024

const exampleHead = {
  schema_version: resultSchemaVersion,
  call_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7ca11',
  status: 'ready',
  revision: 1,
  reason: null,
  generated_at: '2026-07-16T08:01:08.000Z',
}

export const callSummaryExample = {
  object: 'call_summary',
  ...exampleHead,
  summary: 'The agent reminded the contact of the appointment, and the contact confirmed it.',
}

export const callTranscriptExample = {
  object: 'call_transcript',
  ...exampleHead,
  turns: [
    {
      id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7c0b1',
      sequence: 1,
      speaker: 'agent',
      text: 'Hello, this is a reminder of your appointment tomorrow.',
      audio_offset_ms: 320,
    },
  ],
  next_cursor: null,
}
