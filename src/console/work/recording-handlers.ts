import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import { notFound } from '../../contract/api-error.ts'
import { defaultDownloadSeconds } from '../../contract/recordings.ts'
import { downloadableRecording } from '../../domains/recordings/recording-resource.ts'
import {
  findPeaksKey,
  findRecording,
  recordingIdOf,
} from '../../domains/recordings/recording-store.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'
import type { ConsoleHandler } from '../console-handler.ts'

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

/** Undefined where the waveform is not there any more, or cannot be read. */
const readPeaks = async (storage: Pick<ObjectStorage, 'open'>, key: string) => {
  const object = await storage.open(key)
  if (!object || object.size === 0 || object.size > maxPeaksBytes) return undefined
  const bytes = await buffer(await object.stream({ start: 0, end: object.size - 1 }))
  return waveform.safeParse(JSON.parse(bytes.toString())).data
}
