import type { RecordedCall } from './recording-store.ts'

/** Where a recording's two objects lie: the MP3, and the JSON of its waveform. */
export interface RecordingKeys {
  readonly storageKey: string
  readonly peaksKey: string
}

/** Derived from the call alone, so that a repeated job writes over its own objects, and whoever deletes knows them. */
export const recordingKeysOf = ({ organizationId, callId }: RecordedCall): RecordingKeys => ({
  storageKey: `${organizationId}/${callId}.mp3`,
  peaksKey: `${organizationId}/${callId}.peaks.json`,
})
