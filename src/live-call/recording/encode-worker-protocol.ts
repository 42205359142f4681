/** The requests to `encode-worker.ts`, one at a time, and its results. */
export interface EncodeTask {
  readonly spoolPath: string
  readonly mp3Path: string
}

export type EncodeAnswer =
  | { readonly kind: 'encoded'; readonly audio: EncodedAudio }
  /** The spool can never be encoded. */
  | { readonly kind: 'unreadable'; readonly reason: string }

export interface EncodedAudio {
  readonly durationMs: number
  readonly sizeBytes: number
  readonly peaks: WaveformPeaks
}

/** The loudest sample of every 100 ms, 0 to 1, for drawing both lanes. */
interface WaveformPeaks {
  readonly agent: readonly number[]
  readonly contact: readonly number[]
}
