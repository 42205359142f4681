import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import { ApiError, notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { defaultDownloadSeconds } from '../../contract/recordings.ts'
import { listCallParties } from '../../domains/calls/call-parties.ts'
import { findPlacedCall } from '../../domains/calls/call-store.ts'
import { deleteRecordings } from '../../domains/recordings/deleted-recordings.ts'
import { listEveryRecording } from '../../domains/recordings/every-recording.ts'
import { downloadableRecording } from '../../domains/recordings/recording-resource.ts'
import {
  findPeaksKey,
  findRecording,
  recordingIdOf,
} from '../../domains/recordings/recording-store.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'
import { isUuid } from '../../runtime/ids.ts'
import { note, type ConsoleHandler } from '../console-handler.ts'

/** A waveform has two lanes of a few thousand figures. */
const maxPeaksBytes = 4 * 1024 * 1024

const waveform = z.looseObject({ agent: z.array(z.number()), contact: z.array(z.number()) })

/** The recording of a call of any origin. */
export const getCallRecording: ConsoleHandler<'getCallRecording'> = async (
  { params },
  { db, organizationId, parts },
) => {
  const { call_id: callId } = params
  const id = recordingIdOf({ organizationId, callId })
  const row = await findRecording(db, organizationId, id)
  if (!row) throw notFound()
  const peaksKey = await findPeaksKey(db, organizationId, id)
  const peaks = peaksKey === undefined ? undefined : await readPeaks(parts.storage, peaksKey)
  return {
    ...downloadableRecording(row, defaultDownloadSeconds, parts.downloadUrls),
    call_id: callId,
    ...(peaks && { peaks }),
  }
}

/** Its audio opens no more from this moment; the bytes go within minutes, by the worker that keeps house. */
export const deleteCallRecording: ConsoleHandler<'deleteCallRecording'> = async (
  { params },
  context,
) => {
  const { db, organizationId } = context
  const call = await findPlacedCall(db, organizationId, params.call_id)
  if (!call) throw notFound()
  const deleted = await deleteRecordings(db, organizationId, [call.id])
  if (deleted === 0)
    throw new ApiError('resource_state_conflict', 'This call has no recording, or none any more.')
  await note(db, context, {
    action: 'recording.delete',
    target: { type: 'recording', id: recordingIdOf({ organizationId, callId: call.id }) },
    before: { call_id: call.id },
  })
  return { status: 'done' as const }
}

/** Recordings of calls of any origin, newest first. */
export const listRecordings: ConsoleHandler<'listRecordings'> = async (
  { query: { limit, cursor, ...filters } },
  { db, organizationId },
) => {
  if (filters.contact_id !== undefined && !isUuid(filters.contact_id))
    return { data: [], next: null }
  const page = await listEveryRecording(db, { organizationId, limit, cursor, filters })
  const callIds = page.rows.flatMap(({ call_id: id }) => id ?? [])
  const parties = await listCallParties(db, organizationId, callIds)
  const data = page.rows.map(({ recorded_at: recordedAt, size_bytes: size, ...row }) => ({
    ...row,
    ...(row.call_id !== null && parties.get(row.call_id)),
    recorded_at: formatDateTime(recordedAt),
    media_type: 'audio/mpeg' as const,
    ...(size !== null && { size_bytes: size }),
  }))
  return { data, next: page.next }
}

/** Undefined where the waveform is not there any more, or cannot be read. */
const readPeaks = async (storage: Pick<ObjectStorage, 'open'>, key: string) => {
  const object = await storage.open(key)
  if (!object || object.size === 0 || object.size > maxPeaksBytes) return undefined
  const bytes = await buffer(await object.stream({ start: 0, end: object.size - 1 }))
  return waveform.safeParse(JSON.parse(bytes.toString())).data
}
