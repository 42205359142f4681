/** `kal` speaks at 8 kHz, the others at 16 kHz. */
export type FliteVoice = 'kal' | 'kal16' | 'slt' | 'awb' | 'rms'

export interface SynthesizedSpeech {
  /** Shared with the cache: do not write into it. */
  readonly samples: Int16Array
  readonly sampleRateHz: number
}
