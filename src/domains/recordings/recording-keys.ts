import type { RecordedCall } from './recording-store.ts'

/** The keys of a recording's two objects: the MP3, and the JSON of its waveform. */
export interface RecordingKeys {
  readonly storageKey: string
  readonly peaksKey: string
}

/**
 * Derived from the call alone, so that a repeated job overwrites its own objects, and the code that deletes them
 * knows them.
 */
export const recordingKeysOf = ({ organizationId, callId }: RecordedCall): RecordingKeys => ({
  storageKey: `${organizationId}/${callId}.mp3`,
  peaksKey: `${organizationId}/${callId}.peaks.json`,
})
