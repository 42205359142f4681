import { recordingKeysOf, type RecordingKeys } from '../../domains/recordings/recording-keys.ts'
import type { CallKey } from '../../domains/results/transcript-store.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'
import type { EncodedAudio } from './encode-worker-protocol.ts'

/** Peaks are one value for each window of this length. */
const peakWindowMs = 100

/**
 * Puts a recording's two objects into storage, the MP3 and the JSON of its waveform:
 * `{"version", "window_ms", "duration_ms", "agent": [0…1], "contact": [0…1]}`.
 */
export const createRecordingStore = (storage: ObjectStorage) => ({
  store: async (call: CallKey, mp3Path: string, audio: EncodedAudio): Promise<RecordingKeys> => {
    const keys = recordingKeysOf(call)
    await storage.put(keys.peaksKey, { bytes: Buffer.from(waveformJson(audio)) })
    await storage.put(keys.storageKey, { file: mp3Path })
    return keys
  },
  discard: async ({ storageKey, peaksKey }: RecordingKeys): Promise<void> => {
    await Promise.all([storage.delete(storageKey), storage.delete(peaksKey)])
  },
})

const waveformJson = ({ durationMs, peaks }: EncodedAudio): string =>
  JSON.stringify({
    version: 1,
    window_ms: peakWindowMs,
    duration_ms: durationMs,
    agent: peaks.agent,
    contact: peaks.contact,
  })
