/**
 * The port of every transcriber. It hears the callee all the time, and our own detector says where speech pauses and ends:
 * a transcriber that knows more about the end of a turn gives hints.
 */
export interface Transcriber {
  /** Resolves when speech can be heard. Rejects with `ProviderError`. */
  open(listener: TranscriptionListener, signal: AbortSignal): Promise<Transcription>
}

export interface TranscriptionListener {
  /** `words` has changed. */
  onWords(): void
  onTurnHint(hint: TurnHint): void
  /** The connection is lost: `finish` rejects from now on. Once; not after `close`. */
  onLost(error: Error): void
}

/** What the provider believes: the turn may be over, or it goes on after all. */
export type TurnHint = 'maybe_over' | 'resumed'

export interface Transcription {
  /** The words so far of the current speech; they may still change. */
  readonly words: string
  /**
   * 20 ms of the callee's G.711. Never waits.
   * @param isSpeech whether it belongs to speech
   */
  hear(frame: Uint8Array, isSpeech: boolean): void
  /** Speech that the provider has not heard while it was spoken, at once. */
  replay(speech: Speech): void
  /** The callee pauses: the words so far are wanted soon, by `onWords`. */
  hurry(speech: Speech): void
  /** The current speech is over. Resolves with its words, empty if there were none. Rejects with `ProviderError`. */
  finish(speech: Speech, signal: AbortSignal): Promise<string>
  /** Safe twice. */
  close(): void
}

export interface Speech {
  /** 8 kHz. */
  readonly samples: Int16Array
  readonly voicedMs: number
}
