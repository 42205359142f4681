import { z } from 'zod'
import { count, dateTime, integerParameter, opaqueId, uuid } from './fields.ts'
import { createdFilters, listOf, listPaging } from './paging.ts'
import { blame, isOpenWindow } from './rules.ts'

/** Default lifetime of a download URL (contract, "Recordings"). */
export const defaultDownloadSeconds = 900

const expiresIn = integerParameter(60, 3600).meta({
  description: `Lifetime of the download URL in seconds, ${defaultDownloadSeconds} by default.`,
})

export const recording = z
  .strictObject({
    object: z.literal('recording'),
    id: uuid,
    call_id: uuid.nullable().meta({ description: 'null when the call was not made by the API.' }),
    contact_id: opaqueId.nullable(),
    recorded_at: dateTime,
    duration_seconds: count.nullable(),
    media_type: z.literal('audio/mpeg'),
    download_url: z.url().max(2048).optional(),
    download_url_expires_at: dateTime.optional(),
  })
  .meta({ id: 'Recording', description: 'The recording of one call.' })

export type Recording = z.output<typeof recording>

export const recordingPath = z.strictObject({ recording_id: uuid })

export const recordingQuery = z.strictObject({
  expires_in: expiresIn.default(defaultDownloadSeconds),
})

/** `created_after` and `created_before` apply to `recorded_at` (D1). `expires_in` has no default here. */
export const recordingFilters = z
  .strictObject({
    ...listPaging,
    contact_id: opaqueId.optional(),
    call_id: uuid.optional(),
    batch_id: opaqueId.optional(),
    automation_run_id: opaqueId.optional(),
    ...createdFilters,
    include: z.enum(['download_url']).optional().meta({
      description: 'Adds a signed URL and its expiry to every row.',
    }),
    expires_in: expiresIn.optional(),
  })
  .refine(
    isOpenWindow,
    blame('created_before', 'invalid_range', 'must be later than created_after'),
  )
  .refine(
    ({ include, expires_in: seconds }) => seconds === undefined || include !== undefined,
    blame('expires_in', 'requires_include'),
  )

export const recordingList = listOf(recording).meta({ id: 'RecordingList' })

export const recordingExample = {
  object: 'recording',
  id: '5b0f8f5e-3f0e-5d0e-9a41-6c1de0a4b6f2',
  call_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7ca11',
  contact_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7c001',
  recorded_at: '2026-07-16T08:00:04.000Z',
  duration_seconds: 61,
  media_type: 'audio/mpeg',
}

export const downloadableRecordingExample = {
  ...recordingExample,
  download_url:
    'http://127.0.0.1:4002/recordings/5b0f8f5e-3f0e-5d0e-9a41-6c1de0a4b6f2?e=1784190900&k=1&n=7hR2kQ0vXaM&s=Zm9v',
  download_url_expires_at: '2026-07-16T08:15:00.000Z',
}
